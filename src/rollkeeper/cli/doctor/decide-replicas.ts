import { counted } from '@rollkeeper/machinery/text';
import type { ClusterSnapshot, ReplicaView } from '../../admin/server/index.js';
import { ENDS_SOON_MS } from './decide-certificates.js';
import type { Asked, Finding } from './finding.js';
import { failure, ok, orElse, skipped, someOf, warning } from './finding.js';

const SKEW_MS = 1000;
const WHERE =
  'name one with --admin-url (in a cluster: `kubectl port-forward deployment/rollkeeper 8080`), and its token with --admin-token-file';

export function decideReplicas(asked: Asked<ClusterSnapshot>, nowMs: number): readonly Finding[] {
  if (asked.is === 'not-asked') return [skipped('replicas', asked.why, WHERE)];
  if (asked.is === 'unanswered')
    return [failure('replicas', `no replica answers: ${asked.why}`, `start one, or ${WHERE}`)];
  const { replicas } = asked.value;
  const reached = replicas.filter(({ reachable }) => reachable);
  const calm = ok(
    'replicas',
    `${counted(reached.length, 'replica')} ${reached.length === 1 ? 'answers' : 'answer'}, all of version ${reached[0]?.version ?? '?'}`,
  );
  return orElse(
    [
      ...replicas.flatMap(decideReachable),
      ...decideNumber(reached),
      ...decideVersions(reached),
      ...decideOptions(reached),
      ...reached.flatMap(decideClock),
      ...reached.flatMap((replica) => decideCertificate(replica, nowMs)),
    ],
    calm,
  );
}

function decideReachable({
  adminUrl,
  identity,
  problem,
  reachable,
  silentMs,
}: ReplicaView): readonly Finding[] {
  if (reachable) return [];
  return [
    warning(
      'replicas',
      `${identity} (${adminUrl}) does not answer the others: ${problem ?? 'unknown reason'}`,
      silentMs === undefined
        ? 'see its log and `/readyz?verbose`; replicas need the same --admin-token-file, and must reach each other on the admin port'
        : 'restart its process if it hangs: see its log, and the load and memory of its machine. It is forgotten ten minutes after its last sign of life',
    ),
  ];
}

function decideNumber(reached: readonly ReplicaView[]): readonly Finding[] {
  if (reached.length > 1) return [];
  return [
    warning(
      'replicas',
      'only one replica answers: the next failure stops all work',
      'run at least two (chart: replicaCount)',
    ),
  ];
}

function decideVersions(reached: readonly ReplicaView[]): readonly Finding[] {
  const groups = groupedBy(reached, ({ version = 'unknown' }) => version);
  if (groups.size < 2) return [];
  return [
    warning(
      'replicas',
      `replicas are of different versions: ${describeGroups(groups)}`,
      'finish the upgrade; adjacent releases work together during the upgrade (docs/UPGRADING.md)',
    ),
  ];
}

/** The options of replicas of one version are compared: another has other options. */
function decideOptions(reached: readonly ReplicaView[]): readonly Finding[] {
  if (new Set(reached.map(({ version }) => version)).size > 1) return [];
  const known = reached.filter(({ optionsDigest }) => optionsDigest !== undefined);
  const groups = groupedBy(known, ({ optionsDigest = '' }) => optionsDigest.slice(0, 8));
  if (groups.size < 2) return [];
  return [
    warning(
      'replicas',
      `replicas run with different options: ${describeGroups(groups)}`,
      'compare `GET /admin/config` of each, and set the same on all: the effective options depend on the replica that takes a key',
    ),
  ];
}

function decideClock({ aheadMs, identity }: ReplicaView): readonly Finding[] {
  if (aheadMs === undefined || Math.abs(aheadMs) < SKEW_MS) return [];
  return [
    warning(
      'replicas',
      `the clock of ${identity} is ${(Math.abs(aheadMs) / 1000).toFixed(1)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} that of the queried replica`,
      'synchronise the clocks of the nodes (NTP): deadlines and minReadySeconds depend on them',
    ),
  ];
}

function decideCertificate(
  { certificateEndsAtMs, identity }: ReplicaView,
  nowMs: number,
): readonly Finding[] {
  if (certificateEndsAtMs === undefined || certificateEndsAtMs - nowMs > ENDS_SOON_MS) return [];
  const end = new Date(certificateEndsAtMs).toISOString();
  const remedy =
    'renew the files of --admin-tls-cert-file; they are reloaded within 10 s. A certificate that the replica created itself is renewed by a restart';
  return certificateEndsAtMs <= nowMs
    ? [failure('replicas', `the admin certificate of ${identity} ended at ${end}`, remedy)]
    : [warning('replicas', `the admin certificate of ${identity} ends at ${end}`, remedy)];
}

/** The resources that controllers cannot list: without some of them they do not start. */
export function decideCaches(asked: Asked<ClusterSnapshot>): readonly Finding[] {
  if (asked.is !== 'answered') return [skipped('caches', 'no replica answers', WHERE)];
  const reached = asked.value.replicas.filter(({ reachable }) => reachable);
  const controllers = reached.flatMap((replica) =>
    replica.controllers.map((controller) => ({ replica, controller })),
  );
  const remedy =
    'grant the missing right, or repair the aggregated API; `kubectl auth can-i list RESOURCE --as=ACCOUNT` checks a right';
  const troubles = controllers.flatMap(({ controller, replica }) => [
    ...controller.waitsFor.map(({ reason, resource }) =>
      failure(
        'caches',
        `${controller.name} does not start on ${replica.identity}: it cannot list ${resource} (${reason})`,
        remedy,
      ),
    ),
    ...controller.unreadable.map(({ reason, resource }) =>
      warning(
        'caches',
        `${controller.name} on ${replica.identity} works without ${resource} (${reason})`,
        remedy,
      ),
    ),
  ]);
  return orElse(troubles, ok('caches', 'every controller can list and watch the kinds that it needs'));
}

function groupedBy(
  replicas: readonly ReplicaView[],
  key: (replica: ReplicaView) => string,
): ReadonlyMap<string, readonly ReplicaView[]> {
  return Map.groupBy(replicas, key);
}

function describeGroups(groups: ReadonlyMap<string, readonly ReplicaView[]>): string {
  return [...groups]
    .map(
      ([what, members]) =>
        `${what} (${someOf(
          members.map(({ identity }) => identity),
          3,
        )})`,
    )
    .join(', ');
}
