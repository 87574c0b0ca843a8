import type * as coreV1 from '@rollkeeper/machinery/types/core-v1';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { ConfigMap, Pod, Secret, ServiceAccount, unlessGone } from '@rollkeeper/runtime';
import type { ApiClient, Secret as SecretObject } from '@rollkeeper/runtime';
import { SERVICE_ACCOUNT_TOKEN, TokenSecret, clusterController, parseTimeMs } from '../shared/index.js';

type ReadableSecret = DeepReadonly<SecretObject>;

const LAST_USED = 'kubernetes.io/legacy-token-last-used';
const INVALID_SINCE = 'kubernetes.io/legacy-token-invalid-since';
const ACCOUNT = 'kubernetes.io/service-account.name';
/** Since when a server notes the use of tokens. */
const TRACKING = {
  ref: { namespace: 'kube-system', name: 'kube-apiserver-legacy-service-account-token-tracking' },
  field: 'since',
} as const;

const DAY_MS = 86_400_000;
/** A token that is unused for this long becomes invalid, and goes after as long again. The genuine default. */
const UNUSED_MS = 365 * DAY_MS;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

export interface TokenFacts {
  readonly nowMs: number;
  /** Since when its use has been noted; undefined: it is not. */
  readonly trackedSinceMs: number | undefined;
  /** Whether its account lists it, as one that was made for it. */
  readonly isListed: boolean;
  readonly isMounted: boolean;
}

type TokenStep = 'nothing' | 'invalidate' | 'delete';

/** Source: evaluateSATokens in k/k pkg/controller/serviceaccount/legacy_serviceaccount_token_cleaner.go. */
export function decideToken(
  { metadata, type }: ReadableSecret,
  { isListed, isMounted, nowMs, trackedSinceMs }: TokenFacts,
): TokenStep {
  if (type !== SERVICE_ACCOUNT_TOKEN || metadata.deletionTimestamp !== undefined) return 'nothing';
  if (trackedSinceMs === undefined || nowMs < trackedSinceMs + DAY_MS + UNUSED_MS) return 'nothing';
  if ((parseTimeMs(metadata.creationTimestamp) ?? nowMs) >= nowMs - UNUSED_MS) return 'nothing';
  const spared = dateOf(nowMs - UNUSED_MS);
  const lastUsed = metadata.labels?.[LAST_USED];
  if (lastUsed !== undefined && (!DATE.test(lastUsed) || lastUsed >= spared)) return 'nothing';
  if (!isListed || isMounted) return 'nothing';
  const invalidSince = metadata.labels?.[INVALID_SINCE] ?? '';
  if (!DATE.test(invalidSince)) return 'invalidate';
  return invalidSince >= spared ? 'nothing' : 'delete';
}

function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** Deletes tokens that were made for accounts, were used by nothing for a year, and then invalid for another. */
export const legacyTokenCleanerController = clusterController<SecretObject>({
  name: 'legacy-serviceaccount-token-cleaner',
  serviceAccount: 'legacy-service-account-token-cleaner',
  aliases: ['legacy-service-account-token-cleaner'],
  for: TokenSecret,
  predicates: [({ object, type }) => type === 'added' && object.type === SERVICE_ACCOUNT_TOKEN],
  reads: [ServiceAccount],
  async reconcile({ name, namespace = '' }, { client, clock, lister, object: secret }) {
    if (!secret) return {};
    const again = { requeueAfterMs: DAY_MS };
    const nowMs = clock.now();
    const account = lister(ServiceAccount).get(
      `${namespace}/${secret.metadata.annotations?.[ACCOUNT] ?? ''}`,
    );
    const { secrets = [] } = (account ?? {}) as Pick<coreV1.ServiceAccount, 'secrets'>;
    const isListed = secrets.some((each) => each.name === name);
    if (!isListed) return again;
    const facts = {
      ...{ nowMs, isListed },
      trackedSinceMs: await trackedSince(client),
      isMounted: await isMounted(client, namespace, name),
    };
    const step = decideToken(secret, facts);
    const { resourceVersion, uid } = secret.metadata;
    if (step === 'invalidate') {
      const body = { metadata: { uid, labels: { [INVALID_SINCE]: dateOf(nowMs) } } };
      await unlessGone(client.patch(Secret, { namespace, name }, { type: 'merge', body }));
    } else if (step === 'delete') {
      const preconditions = { uid, resourceVersion };
      await unlessGone(client.delete(Secret, { namespace, name }, { preconditions }));
    }
    return again;
  },
});

async function trackedSince(client: ApiClient): Promise<number | undefined> {
  const found = await unlessGone(client.get<ConfigMap>(ConfigMap, TRACKING.ref));
  return parseTimeMs(`${found?.data?.[TRACKING.field] ?? ''}T00:00:00Z`);
}

async function isMounted(client: ApiClient, namespace: string, secret: string): Promise<boolean> {
  const { items } = await client.list<Pod>(Pod, { namespace });
  return items.some(({ spec }) =>
    (spec.volumes ?? []).some((volume) => volume.secret?.secretName === secret),
  );
}
