/**
 * The safety features of a genuine API server that this one lacks. Logged once at the start, so that users who test their rules
 * here know what they do not see. docs/SECURITY.md explains each.
 */
export const WEAKER_THAN_GENUINE: readonly string[] = [
  'no encryption at rest',
  'no audit log',
  'no API priority and fairness',
  'containers of pods are simulated',
];
