import { counted } from '@rollkeeper/machinery/text';
import type { Asked, Finding } from './finding.js';
import { failure, isForbidden, ok, orElse, skipped, someOf, warning } from './finding.js';

/** The last writer of the status of a Deployment: the manager in its managedFields, and when it wrote. */
export interface StatusWriter {
  /** `namespace/name` */
  readonly key: string;
  readonly manager: string;
  readonly atMs: number;
}

/** The facts that show whether another controller processes the same Deployments. */
export interface RivalFacts {
  /** Whether these replicas process `apps/v1`. */
  readonly worksOnApps: boolean;
  /** When the first of the replicas started. */
  readonly sinceMs: number;
  readonly writers: Asked<readonly StatusWriter[]>;
  /** The Lease of kube-controller-manager. Undefined: there is none. */
  readonly managerLease: Asked<{ readonly holder: string; readonly renewedAtMs: number } | undefined>;
  /** `--controllers` of each kube-controller-manager whose pod can be seen; undefined in one that has none. */
  readonly managerFlags: Asked<readonly (string | undefined)[]>;
}

/** Longer than any lease of kube-controller-manager lasts. */
const LEASE_IS_LIVE_MS = 60_000;
const OWN_MANAGER = 'rollkeeper';
const NAMES = ['deployment-controller', 'deployment'];
const REMEDY =
  'switch it off: kube-controller-manager --controllers=*,-deployment-controller,-replicaset-controller; if the provider runs it, use deployments.api=rollkeeper.dev/v1 (docs/INSTALL.md)';

export function decideRivals(facts: RivalFacts, nowMs: number): readonly Finding[] {
  if (!facts.worksOnApps)
    return [ok('rivals', 'the replicas manage rollkeeper.dev/v1, which no other controller handles')];
  const seen = decideWriters(facts);
  const flagged = decideFlags(facts);
  if (seen.length > 0 || flagged.length > 0) return [...seen, ...flagged];
  return orElse(decideUnseen(facts, nowMs), ok('rivals', calmSentence(facts, nowMs)));
}

function decideWriters({ sinceMs, writers }: RivalFacts): readonly Finding[] {
  if (writers.is !== 'answered') return [];
  const foreign = writers.value.filter(({ atMs, manager }) => manager !== OWN_MANAGER && atMs > sinceMs);
  return [...Map.groupBy(foreign, ({ manager }) => manager)].map(([manager, of]) =>
    failure(
      'rivals',
      `${manager} writes the status of ${counted(of.length, 'Deployment')} too, since the replicas started: ${someOf(
        of.map(({ key }) => key),
        3,
      )}`,
      manager === 'kube-controller-manager'
        ? REMEDY
        : `stop ${manager}, or divide the Deployments between both by namespaces or selector (docs/SCOPE.md)`,
    ),
  );
}

function decideFlags({ managerFlags }: RivalFacts): readonly Finding[] {
  if (managerFlags.is !== 'answered' || !managerFlags.value.some(runsDeployments)) return [];
  return [
    failure(
      'rivals',
      'kube-controller-manager runs its own Deployment controller beside these replicas',
      REMEDY,
    ),
  ];
}

/** As kube-controller-manager reads `--controllers`: the first mention counts, `*` means all that are not named. */
export function runsDeployments(flag = '*'): boolean {
  const items = flag.split(',').map((item) => item.trim());
  for (const item of items) {
    if (NAMES.includes(item)) return true;
    if (NAMES.includes(item.replace(/^-/, ''))) return false;
  }
  return items.includes('*');
}

function decideUnseen(facts: RivalFacts, nowMs: number): readonly Finding[] {
  const { managerFlags, managerLease, writers } = facts;
  if (managerLease.is !== 'answered' && writers.is !== 'answered')
    return [
      skipped(
        'rivals',
        `whether another controller manages these Deployments could not be checked: ${writers.why}`,
      ),
    ];
  if (!isManagerAlive(facts, nowMs)) return [];
  const sawFlags = managerFlags.is === 'answered' && managerFlags.value.length > 0;
  if (sawFlags || (writers.is === 'answered' && writers.value.length > 0)) return [];
  if (writers.is === 'answered')
    return [
      warning(
        'rivals',
        'kube-controller-manager runs, its flags are not visible from here, and there is no Deployment yet that shows which controller manages it',
        'make sure that it has --controllers=*,-deployment-controller,-replicaset-controller, and run this again once there is a Deployment',
      ),
    ];
  return [
    skipped(
      'rivals',
      `Deployments could not be read: ${writers.why}`,
      isForbidden(writers) ? 'grant the right to list Deployments' : undefined,
    ),
  ];
}

function isManagerAlive({ managerLease }: RivalFacts, nowMs: number): boolean {
  if (managerLease.is !== 'answered' || !managerLease.value) return false;
  return nowMs - managerLease.value.renewedAtMs < LEASE_IS_LIVE_MS;
}

function calmSentence(facts: RivalFacts, nowMs: number): string {
  if (facts.managerLease.is !== 'answered')
    return 'the status of no Deployment was written by another controller since the replicas started';
  if (!isManagerAlive(facts, nowMs)) return 'no kube-controller-manager runs beside these replicas';
  return 'kube-controller-manager runs, and leaves Deployments to these replicas';
}
