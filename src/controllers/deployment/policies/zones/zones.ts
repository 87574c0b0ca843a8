import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import type { WatchedNodes } from '../../../shared/index.js';
import { ZONE_FIRST, isPodServing, renderZoneFirst, zoneOf } from '../../../shared/index.js';
import { OWN_RULES } from '../../kubernetes/rollout-rules.js';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import { activeOf, lastingAvailable, totalReplicas } from '../../kubernetes/replica-set-draft.js';
import { latestOf } from '../../kubernetes/new-replica-set.js';
import { isHeld, stableOf } from '../../kubernetes/held-sizes.js';
import { ZONE_BEGUN } from './settings.js';
import { lookAgainAfter } from '../common/outcome.js';
import type { ScaleDownFields } from '../scale-down/settings.js';
import type { ZoneFields } from './settings.js';
import type { Pass, Policy, PolicyDecision } from '../common/pass.js';
import type { Problem } from '../common/tell.js';
import { NODES_NOT_WATCHED, normal, tellEvent } from '../common/tell.js';

export interface ZoneSurroundings {
  /** The labels of nodes. @default not known */
  readonly nodes?: WatchedNodes;
}
type ZonePass = Pass<ZoneFields & ScaleDownFields> & ZoneSurroundings;

/** Zones go one by one. */
export const ZONES: Policy<ZonePass> = { decide: goZoneByZone, trouble: zonesTrouble };

/** Nodes come into the cache soon. */
const STARTING_MS = 2000;

/** Why pods do not go by their zones, although they are asked to. */
function zonesTrouble({ nodes, policy: { keepsSpread, zoneLabel } }: ZonePass): Problem | undefined {
  if ((zoneLabel === undefined && !keepsSpread) || nodes === undefined) return undefined;
  const reason = NODES_NOT_WATCHED;
  if (nodes === 'off') return { reason, message: 'nodes are not watched: start the controller with --zones' };
  return nodes.availability === 'refused'
    ? { reason, message: 'the controller may not list nodes' }
    : undefined;
}

/**
 * Lets old pods that are ready go zone by zone, in the order of the zones' names. Those of one zone go as
 * far as the limits of the rollout allow. Those of the next are left alone until as many new pods are available as old ones
 * have been removed. Where the new pods run is the scheduler's choice.
 */
function goZoneByZone(pass: ZonePass): PolicyDecision | undefined {
  const { draft, nodes, policy } = pass;
  const label = policy.zoneLabel;
  if (label === undefined || nodes === undefined || nodes === 'off' || draft.spec.paused) return undefined;
  if (nodes.availability === 'starting') return holdAll(pass);
  if (nodes.availability !== 'known') return undefined;
  const latest = latestOf(draft, draft.living);
  const old = activeOf(draft.living).filter((set) => set !== latest);
  const ready = new Map(zonedOf(draft, old).map((set) => [set, pass.podsOf(set).filter(isPodServing)]));
  const zones = [...ready.values()].flat().map((pod) => zoneOf(pod, label, nodes));
  const [zone] = [...new Set(zones)].sort();
  if (zone === undefined) return undefined;
  const isBegun = latest?.annotations[ZONE_BEGUN] === zone;
  const mayBegin = isBegun || isReplaced(draft, latest, old);
  const stays = (pod: DeepReadonly<Pod>): boolean => !mayBegin || zoneOf(pod, label, nodes) !== zone;
  const leastOld = (set: ReplicaSetDraft): number => ready.get(set)?.filter(stays).length ?? 0;
  const afterwards = (): void => {
    for (const set of old) noteZone(draft, set, { label, value: zone });
    tellZone(pass, { zone, label, isBegun, mayBegin });
  };
  return { limits: { leastOld }, afterwards };
}

interface ZoneInTurn {
  readonly zone: string;
  readonly label: string;
  /** Pods of it have been allowed to go before. */
  readonly isBegun: boolean;
  readonly mayBegin: boolean;
}

function tellZone({ draft, outcome }: ZonePass, { isBegun, label, mayBegin, zone }: ZoneInTurn): void {
  if (!mayBegin) {
    outcome.standing ??= {
      code: 'waits-for-zone',
      sentence: `old pods in ${wordsFor(zone, label)} go when the new pods in place of those that have gone are available`,
      unblockedBy: ['new pods that become available'],
      endsByItself: true,
    };
    return;
  }
  const now = latestOf(draft, draft.living);
  if (isBegun || !now) return;
  draft.annotate(now, { ...now.annotations, [ZONE_BEGUN]: zone });
  const message = `Rollout of ${now.name}: old pods in ${wordsFor(zone, label)} go now`;
  tellEvent(draft, outcome, normal('RolloutZone', message));
}

/**
 * A step holds the version before, and versions may run whole beside the new one. Other versions, which were only tried, give their room
 * first, in any zone: the new one could not grow otherwise.
 */
function zonedOf(draft: RolloutDraft, old: readonly ReplicaSetDraft[]): readonly ReplicaSetDraft[] {
  const { keptWhole } = draft.limits;
  if (keptWhole && keptWhole.size > 0) return old.filter((set) => keptWhole.has(set));
  if (!isHeld(draft)) return old;
  const stable = stableOf(draft, old);
  return stable ? [stable] : [];
}

/** Until the zones are known, no pod goes that is ready. */
function holdAll({ draft, outcome, podsOf }: ZonePass): PolicyDecision {
  const latest = latestOf(draft, draft.living);
  lookAgainAfter(outcome, STARTING_MS);
  const leastOld = (set: ReplicaSetDraft): number =>
    set === latest ? 0 : podsOf(set).filter(isPodServing).length;
  return { limits: { leastOld } };
}

/** Whether as many new pods are available as old ones have been removed. */
function isReplaced(
  draft: RolloutDraft,
  latest: ReplicaSetDraft | undefined,
  old: readonly ReplicaSetDraft[],
): boolean {
  const available = latest ? lastingAvailable(latest, OWN_RULES) : 0;
  return available + totalReplicas(old) >= draft.replicas;
}

/** For the ReplicaSet's own controller, with the size that is about to be written. */
function noteZone(
  draft: RolloutDraft,
  set: ReplicaSetDraft,
  { label, value }: { readonly label: string; readonly value: string },
): void {
  const { replicas } = set;
  if (set.deleted || replicas >= (set.observed?.spec.replicas ?? 0)) return;
  draft.annotate(set, { ...set.annotations, [ZONE_FIRST]: renderZoneFirst({ label, value, replicas }) });
}

function wordsFor(zone: string, label: string): string {
  return zone === '' ? `no zone (nodes without ${label})` : `zone ${zone}`;
}
