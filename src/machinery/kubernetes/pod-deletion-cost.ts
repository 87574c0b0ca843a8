/** Annotation that ranks pods for deletion: the lower the cost, the sooner the pod is deleted. */
export const POD_DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';

/**
 * The parsed cost; undefined if the text is invalid. A plus sign and leading zeros are refused, except zeros after a
 * minus sign. Source: GetDeletionCostFromPodAnnotations in pkg/apis/core/helper/helpers.go.
 */
export function parseDeletionCost(text: string): number | undefined {
  if (!/^(?:0|-\d+|[1-9]\d*)$/.test(text)) return undefined;
  const cost = Number(text);
  const int32 = cost | 0;
  return cost === int32 ? int32 : undefined;
}
