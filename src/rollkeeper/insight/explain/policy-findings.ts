import type { Finding, Severity } from './explanation.js';
import type { RolloutFacts } from './rollout-facts.js';

/** Why the policies in the Deployment's annotations do not let the rollout simply continue. */
export function policyFindings({ standing }: RolloutFacts): Finding[] {
  if (!standing) return [];
  const { code, sentence, unblockedBy, endsByItself } = standing;
  const isNote = code === 'rolled-back';
  // A rollout that waits for an approval, or for a freeze to end, does what its policy asks for: it is not stuck.
  const isStuck =
    code === 'check-failed' || code === 'invalid-policy' || (code === 'failed-template' && !endsByItself);
  const severity: Severity = isNote ? 'note' : isStuck ? 'blocked' : 'waits';
  return [{ cause: code, severity, summary: sentence, unblockedBy: [...unblockedBy] }];
}
