import type { Finding, Severity } from './explanation.js';
import type { RolloutFacts } from './rollout-facts.js';

/** Why the policies in the Deployment's annotations do not let the rollout simply go on. */
export function policyFindings({ standing }: RolloutFacts): Finding[] {
  if (!standing) return [];
  const { code, sentence, unblockedBy, endsByItself } = standing;
  const isNote = code === 'invalid-policy' || code === 'rolled-back';
  const severity: Severity = isNote ? 'note' : endsByItself ? 'waits' : 'blocked';
  return [{ cause: code, severity, summary: sentence, unblockedBy: [...unblockedBy] }];
}
