import { latestOf } from '../../kubernetes/new-replica-set.js';
import { requestedRollback } from '../../kubernetes/rollback.js';
import { readFailures } from '../common/failed-templates.js';
import type { Pass, Policy, PolicyDecision } from '../common/pass.js';
import { hashOf } from '../common/revisions.js';
import type { RolloutInForce, VersionRule } from '../common/version-rule.js';

/** A policy that decides by its rules which version runs, and how far; the first rule that chooses counts. */
export function versionBy<P extends Pass>(rules: readonly VersionRule<P>[]): Policy<P> {
  return { decide: (pass) => chooseVersion(pass, rules) };
}

function chooseVersion<P extends Pass>(
  pass: P,
  rules: readonly VersionRule<P>[],
): PolicyDecision | undefined {
  const { draft, isAsked } = pass;
  if (!isAsked) return undefined;
  // A rollback that was asked for comes first, and policies rest while the rollout is paused.
  if (draft.spec.paused || requestedRollback(draft.annotations) !== undefined) {
    const latest = latestOf(draft, draft.living);
    for (const { limitAtRest } of rules) if (limitAtRest) draft.limit(limitAtRest(pass, latest));
    return undefined;
  }
  const before = latestOf(draft, draft.living);
  if (rules.some(({ prepare }) => prepare?.(pass, before))) return { ends: true };
  const rollout = { before, current: hashOf(draft), failures: readFailures(draft.annotations) };
  for (const { limit } of rules) if (limit) draft.limit(limit(pass, rollout));
  return firstChoice(pass, rules, rollout);
}

function firstChoice<P extends Pass>(
  pass: P,
  rules: readonly VersionRule<P>[],
  rollout: RolloutInForce,
): PolicyDecision | undefined {
  for (const [index, { choose }] of rules.entries()) {
    const choice = choose?.(pass, rollout);
    if (!choice) continue;
    const { isWithheld, ...decision } = choice;
    if (isWithheld) {
      for (const { withhold } of rules.slice(index + 1)) withhold?.(pass);
      return decision;
    }
    return { ...decision, afterwards: concluding(pass, rules.slice(0, index + 1), decision) };
  }
  return undefined;
}

function concluding<P extends Pass>(
  pass: P,
  rules: readonly VersionRule<P>[],
  { afterwards }: PolicyDecision,
): PolicyDecision['afterwards'] {
  return () => {
    afterwards?.();
    const latest = latestOf(pass.draft, pass.draft.living);
    for (const { conclude } of rules.toReversed()) conclude?.(pass, latest);
  };
}
