import { parseTimeMs } from '../../../shared/index.js';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import { lastingAvailable } from '../../kubernetes/replica-set-draft.js';
import { OWN_RULES } from '../../kubernetes/rollout-rules.js';
import type { Share } from '../common/share.js';
import { weightsAt, type ManagedRule } from './managed-rules.js';
import type { SetVersion } from './versions.js';

interface Shrinking {
  readonly stable: SetVersion;
  readonly canary: SetVersion;
  /** @default what the canary has */
  readonly asked: Share | undefined;
  readonly drainMs: number;
}

/** How large the stable version has to be now. */
interface StableSize {
  readonly size: number;
  /** When it may become smaller: nothing else reports that. @default no time is known */
  readonly shrinksAfterMs?: number;
}

/**
 * The number of pods that the share of the stable version needs, where it may shrink: less only once the routes have served the greater
 * share of the canary for the drain time, more before that share falls. Never none, since its Service selects it.
 */
export function stableSize(
  draft: RolloutDraft,
  { asked, canary: { note }, drainMs, stable }: Shrinking,
): StableSize {
  const percent = note?.percent ?? 0;
  const served = Math.min(percent, asked?.percent ?? percent, note?.from ?? percent);
  const needed = Math.max(1, Math.ceil((draft.replicas * (100 - served)) / 100));
  const untilMs = note?.since === undefined ? Infinity : (parseTimeMs(note.since) ?? 0) + drainMs;
  const kept = Math.max(needed, Math.min(stable.set.replicas, draft.replicas));
  if (draft.nowMs >= untilMs || kept === needed) return { size: needed };
  return { size: kept, ...(Number.isFinite(untilMs) && { shrinksAfterMs: untilMs - draft.nowMs }) };
}

/**
 * The share that is too much for the pods of the stable version, percent, rounded up. Where the rules cannot give exactly that, all of it:
 * the canary keeps what it has until the other is whole.
 */
export function shareWithoutPods(
  { replicas }: RolloutDraft,
  { set }: SetVersion,
  rules: readonly ManagedRule[],
): number {
  const carried = Math.floor((100 * Math.min(replicas, lastingAvailable(set, OWN_RULES))) / replicas);
  const least = 100 - carried;
  return rules.every((rule) => weightsAt(rule, least) !== undefined) ? least : 100;
}
