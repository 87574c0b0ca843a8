import type { Volume, ServiceAccount as IServiceAccount } from '@rollkeeper/machinery/types/core-v1';
import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import type { Decoded, DecodedObject, Pod, PodSpec } from '@rollkeeper/machinery/kubernetes';
import { generatedName, isMirrorPod, objectOfKind } from '@rollkeeper/machinery/kubernetes';
import { containersOf, refused } from '../attributes.js';
import type { WriteAttributes } from '../attributes.js';
import type { FollowedObjects } from '../../../storage/index.js';

export type ServiceAccount = DecodedObject<IServiceAccount>;

const DEFAULT = 'default';
const ENFORCE_SECRETS = 'kubernetes.io/enforce-mountable-secrets';
const VOLUME_PREFIX = 'kube-api-access-';
const MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';
/** An hour and seven seconds, by which a kubelet recognizes the default. */
const TOKEN_SECONDS = 3607;
/** The default account of a namespace is created right after the namespace. */
const DEFAULT_ATTEMPTS = 10;
const RETRY_MS = 100;

/** How to treat pods with a missing service account. */
export type UnknownAccounts = 'warn' | 'refuse';

interface ServiceAccountContext {
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly unknownAccounts: UnknownAccounts;
}

/**
 * Lets a pod act as a service account, and gives it the account's token. Source: the plug-in ServiceAccount of
 * kube-apiserver, which refuses unknown accounts.
 * @throws StatusError 403
 */
export async function admitServiceAccount(
  attributes: WriteAttributes,
  accounts: FollowedObjects<ServiceAccount>,
  { clock, random, unknownAccounts }: ServiceAccountContext,
): Promise<void> {
  const pod: DecodedObject<Pod> = objectOfKind(attributes.object);
  if (isMirrorPod(pod)) {
    if (pod.spec?.serviceAccountName)
      throw refused(attributes, 'a mirror pod may not reference service accounts');
    return;
  }
  const { namespace } = attributes;
  const spec = (pod.spec ??= {});
  const name = spec.serviceAccountName || DEFAULT;
  const account = accounts.get(namespace, name) ?? (await find(accounts, namespace, name, clock));
  if (!account && (unknownAccounts === 'refuse' || name === DEFAULT))
    throw refused(
      attributes,
      `error looking up service account ${namespace}/${name}: serviceaccount "${name}" not found`,
    );
  spec.serviceAccountName = name;
  spec.serviceAccount = name;
  if (!account) {
    attributes.caller.warn(`service account ${namespace}/${name} does not exist: the pod gets no token`);
    return;
  }
  const problem =
    account.metadata.annotations?.[ENFORCE_SECRETS] === 'true'
      ? unreferencedSecret(spec, account)
      : undefined;
  if (problem !== undefined) throw refused(attributes, problem);
  if (spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true)
    mountToken(spec, random);
  if ((spec.imagePullSecrets ?? []).length === 0 && account.imagePullSecrets?.length)
    spec.imagePullSecrets = account.imagePullSecrets.map((secret) => ({ ...secret }));
}

async function find(
  accounts: FollowedObjects<ServiceAccount>,
  namespace: string,
  name: string,
  clock: Clock,
): Promise<Readonly<ServiceAccount> | undefined> {
  const attempts = name === DEFAULT ? DEFAULT_ATTEMPTS : 1;
  for (let attempt = 1; ; attempt++) {
    const found = await accounts.lookUp(namespace, name);
    if (found || attempt >= attempts) return found;
    await clock.sleep(RETRY_MS);
  }
}

/** Adds the token to all containers without another mount in its place. */
function mountToken(spec: Decoded<PodSpec>, random: RandomSource): void {
  const volumes = spec.volumes ?? [];
  const existing = volumes.find(isTokenVolume)?.name;
  const name = existing ?? generatedName(VOLUME_PREFIX, random);
  const { containers, initContainers } = containersOf(spec);
  const bare = [...initContainers, ...containers].filter(
    ({ volumeMounts }) => !volumeMounts?.some(({ mountPath }) => mountPath === MOUNT_PATH),
  );
  for (const container of bare)
    container.volumeMounts = [
      ...(container.volumeMounts ?? []),
      { name, readOnly: true, mountPath: MOUNT_PATH },
    ];
  if (bare.length > 0 && existing === undefined) spec.volumes = [...volumes, tokenVolume(name)];
}

/** The volume is not validated yet: it may have no name. */
function isTokenVolume({ name, projected }: Decoded<Volume>): boolean {
  return !!projected && !!name?.startsWith(VOLUME_PREFIX);
}

function tokenVolume(name: string): Decoded<Volume> {
  return {
    name,
    projected: {
      sources: [
        { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: 'token' } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        {
          downwardAPI: {
            items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
          },
        },
      ],
      defaultMode: 0o644,
    },
  };
}

/** A secret that a pod may not use with an account that enforces its list of secrets. */
function unreferencedSecret(spec: Decoded<PodSpec>, account: Readonly<ServiceAccount>): string | undefined {
  const { name: accountName } = account.metadata;
  const mountable = new Set(account.secrets?.map(({ name }) => name));
  const because = `is not allowed because service account ${accountName} does not reference that secret`;
  for (const { secret } of spec.volumes ?? [])
    if (secret && !mountable.has(secret.secretName))
      return `volume with secret.secretName="${secret.secretName}" ${because}`;
  const { containers, initContainers } = containersOf(spec);
  const worded = [
    ...initContainers.map((container) => ({ container, word: 'init container' })),
    ...containers.map((container) => ({ container, word: 'container' })),
  ];
  for (const { container, word } of worded) {
    for (const { secretRef } of container.envFrom ?? [])
      if (secretRef && !mountable.has(secretRef.name))
        return `${word} ${container.name} with envFrom referencing secret.secretName="${secretRef.name}" ${because}`;
    for (const { name: variable, valueFrom } of container.env ?? []) {
      const secret = valueFrom?.secretKeyRef?.name;
      if (secret !== undefined && !mountable.has(secret))
        return `${word} ${container.name} with envVar ${variable} referencing secret.secretName="${secret}" ${because}`;
    }
  }
  const pullable = new Set(account.imagePullSecrets?.map(({ name }) => name));
  const index = (spec.imagePullSecrets ?? []).findIndex(({ name }) => !pullable.has(name));
  if (index < 0) return undefined;
  return `imagePullSecrets[${index}].name="${spec.imagePullSecrets?.[index]?.name}" is not allowed because service account ${accountName} does not reference that imagePullSecret`;
}
