/** Annotation by which a user says which pods to spare: the lower the cost, the sooner the pod goes. */
export const POD_DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';

/**
 * The cost that a text names; undefined where it names none. A plus sign and leading zeros are refused, those behind a minus sign are
 * not. Source: GetDeletionCostFromPodAnnotations in pkg/apis/core/helper/helpers.go.
 */
export function parseDeletionCost(text: string): number | undefined {
  if (!/^(?:0|-\d+|[1-9]\d*)$/.test(text)) return undefined;
  const cost = Number(text);
  const int32 = cost | 0;
  return cost === int32 ? int32 : undefined;
}
