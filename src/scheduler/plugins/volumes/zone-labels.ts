/** Labels of nodes and volumes that say where they are, today's and those of before. */
export const ZONE = 'topology.kubernetes.io/zone';
export const REGION = 'topology.kubernetes.io/region';
export const BETA_ZONE = 'failure-domain.beta.kubernetes.io/zone';
export const BETA_REGION = 'failure-domain.beta.kubernetes.io/region';

/** The zones that a volume's label names, separated by `__`. An empty one among them is kept. */
export function zonesIn(label: string): readonly string[] {
  return label.split('__').map((zone) => zone.trim());
}
