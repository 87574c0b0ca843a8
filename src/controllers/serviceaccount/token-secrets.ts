import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import type { ApiClient } from '@rollkeeper/runtime';
import { Secret, ServiceAccount, keyOf, unlessGone, untyped, watch } from '@rollkeeper/runtime';
import { SERVICE_ACCOUNT_TOKEN, TokenSecret, clusterController } from '../shared/index.js';

type ReadableSecret = DeepReadonly<Secret>;

const ACCOUNT_NAME = 'kubernetes.io/service-account.name';
const ACCOUNT_UID = 'kubernetes.io/service-account.uid';
/** The maximum for a TokenRequest, seconds: 136 years. The genuine tokens of Secrets never expire. */
const FOR_EVER_SECONDS = 2 ** 32;
const BY_ACCOUNT = 'account';

/** The step that a token Secret needs; it is deleted with its account. */
type TokenSecretStep =
  | { readonly type: 'none' | 'delete' }
  | {
      readonly type: 'fill';
      readonly annotations: Readonly<Record<string, string>>;
      /** Base64; without the token. */
      readonly data: Readonly<Record<string, string>>;
      readonly needsToken: boolean;
    };

/**
 * Fills Secrets of type `kubernetes.io/service-account-token` with a token of the named account, the API server's CA,
 * and the namespace; deletes them with their account. The token is valid as long as the Secret exists. Source:
 * `TokensController` in k/k pkg/controller/serviceaccount.
 */
export const serviceAccountTokenController = clusterController<Secret>(
  { name: 'serviceaccount-token', serviceAccount: null, for: TokenSecret },
  ({ rootCa }) => ({
    predicates: [({ object, type }) => type !== 'deleted' && accountOf(object) !== undefined],
    indexes: [{ kind: TokenSecret, name: BY_ACCOUNT, valuesOf: (secret) => accountKeys(secret) }],
    watches: [
      watch(
        ServiceAccount,
        ({ metadata }, listerOf) =>
          listerOf(TokenSecret)
            .byIndex(BY_ACCOUNT, keyOf(metadata))
            .map((secret) => secret.metadata),
        ({ type }) => type === 'deleted',
      ),
    ],
    async reconcile(_request, { client, object: secret }) {
      const name = secret && accountOf(secret);
      if (!secret || name === undefined) return;
      const { namespace, resourceVersion, uid } = secret.metadata;
      // Read from the server, because the Secret may be deleted as a result.
      const account = await unlessGone(client.get(ServiceAccount, { namespace, name }));
      const step = decideTokenSecret(secret, account, rootCa);
      if (step.type === 'delete')
        await unlessGone(client.delete(Secret, secret.metadata, { preconditions: { uid } }));
      if (step.type !== 'fill' || !account) return;
      const token = step.needsToken ? { token: base64(await requestToken(client, account, secret)) } : {};
      const { annotations, data } = step;
      const body = { metadata: { uid, resourceVersion, annotations }, data: { ...data, ...token } };
      await unlessGone(client.patch(Secret, secret.metadata, { type: 'merge', body }));
    },
  }),
);

/** @param account the server's current one; undefined: it was deleted */
export function decideTokenSecret(
  { data = {}, metadata }: ReadableSecret,
  account: DeepReadonly<KubernetesObject> | undefined,
  rootCa: string | undefined,
): TokenSecretStep {
  const { annotations = {}, deletionTimestamp, namespace = '' } = metadata;
  if (deletionTimestamp !== undefined) return { type: 'none' };
  const uid = account?.metadata.uid;
  if (uid === undefined || ![undefined, uid].includes(annotations[ACCOUNT_UID])) return { type: 'delete' };
  const wanted = { namespace: base64(namespace), ...(rootCa !== undefined && { 'ca.crt': base64(rootCa) }) };
  const lacking = Object.entries(wanted).filter(([key, value]) => data[key] !== value);
  const needsToken = !data['token'];
  if (lacking.length === 0 && !needsToken && annotations[ACCOUNT_UID] === uid) return { type: 'none' };
  return {
    type: 'fill',
    annotations: { [ACCOUNT_UID]: uid },
    data: Object.fromEntries(lacking),
    needsToken,
  };
}

interface TokenRequest extends KubernetesObject {
  readonly spec: unknown;
  readonly status?: { readonly token?: string };
}

async function requestToken(
  client: ApiClient,
  { metadata: { name, namespace } }: KubernetesObject,
  { metadata }: ReadableSecret,
): Promise<string> {
  const boundObjectRef = { apiVersion: 'v1', kind: 'Secret', name: metadata.name, uid: metadata.uid };
  const wish: TokenRequest = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: { name, namespace },
    spec: { expirationSeconds: FOR_EVER_SECONDS, boundObjectRef },
  };
  const { status } = await client.create<TokenRequest>(untyped(ServiceAccount), wish, {
    subresource: 'token',
  });
  if (!status?.token) throw new Error(`the server gave no token for the service account ${name}`);
  return status.token;
}

/** The account whose token a Secret requests. */
function accountOf({ metadata, type }: ReadableSecret): string | undefined {
  return type === SERVICE_ACCOUNT_TOKEN ? metadata.annotations?.[ACCOUNT_NAME] : undefined;
}

function accountKeys(secret: ReadableSecret): string[] {
  const name = accountOf(secret);
  return name === undefined ? [] : [keyOf({ namespace: secret.metadata.namespace, name })];
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
