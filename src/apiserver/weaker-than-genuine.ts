/**
 * What a genuine API server has for safety and this one has not. Said once at the start, so that those who test their
 * rules here know what they do not see. docs/SECURITY.md explains each.
 */
export const WEAKER_THAN_GENUINE: readonly string[] = [
  'no encryption at rest',
  'no audit log',
  'no API priority and fairness',
  'containers of pods are simulated',
];
