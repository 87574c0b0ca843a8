import { goQuote, parseInt64 } from '@rollkeeper/machinery/kubernetes';
import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';

/** Fields of older versions of the API that are annotations now. A genuine server still converts them to fields. */
const ROLLBACK_TO = 'deprecated.deployment.rollback.to';
export const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

/** Source: Convert_v1_Deployment_To_apps_Deployment in pkg/apis/apps/v1/conversion.go. */
export function rollbackProblem({ metadata }: Readonly<UnstructuredObject>): string | undefined {
  const revision = metadata.annotations?.[ROLLBACK_TO];
  const problem = revision ? integerProblem(revision) : undefined;
  return problem && `failed to parse annotation[${ROLLBACK_TO}]=${revision} as int64: ${problem}`;
}

/** Source: Convert_v1_DaemonSet_To_apps_DaemonSet, beside it. */
export function templateGenerationProblem({ metadata }: Readonly<UnstructuredObject>): string | undefined {
  const generation = metadata.annotations?.[TEMPLATE_GENERATION];
  return generation === undefined ? undefined : integerProblem(generation);
}

/** The error of Go's `strconv.ParseInt` for a text that is no int64. */
function integerProblem(text: string): string | undefined {
  if (parseInt64(text) !== undefined) return undefined;
  const why = /^[+-]?\d+$/.test(text) ? 'value out of range' : 'invalid syntax';
  return `strconv.ParseInt: parsing ${goQuote(text)}: ${why}`;
}
