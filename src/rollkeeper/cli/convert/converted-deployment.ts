import type { Deployment, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { apiVersionOf, isJsonObject } from '@rollkeeper/machinery/kubernetes';
import { TRACE_ANNOTATION } from '@rollkeeper/machinery/trace-context';

/** On the new object: `UID/GENERATION` of its source, until the conversion is complete. */
export const CONVERTED_FROM = 'rollkeeper.dev/converted-from';
/** On either: it is only paused for the conversion, and resumes after it. */
export const RESUME = 'rollkeeper.dev/resume-after-conversion';
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** `source` in another API, paused, and marked as made from it; replaces `target` if that exists. */
export function convertedDeployment(source: Deployment, type: ResourceType, target?: Deployment): Deployment {
  const { annotations = {}, generation = 0, labels, name, namespace, uid = '' } = source.metadata;
  const { [TRACE_ANNOTATION]: _trace, [LAST_APPLIED]: lastApplied, ...kept } = annotations;
  const apiVersion = apiVersionOf(type);
  return {
    apiVersion,
    kind: type.kind,
    metadata: {
      name,
      namespace,
      ...(target && { resourceVersion: target.metadata.resourceVersion }),
      ...(labels && { labels }),
      annotations: { ...kept, ...inApi(lastApplied, apiVersion), [CONVERTED_FROM]: `${uid}/${generation}` },
    },
    spec: { ...source.spec, ...strategyOf(source), paused: true },
  };
}

/** Whether `target` was made from `source`, regardless of later changes. */
export function isMadeFrom(target: Deployment, source: Deployment): boolean {
  const from = target.metadata.annotations?.[CONVERTED_FROM];
  return from !== undefined && from.startsWith(`${source.metadata.uid}/`);
}

/** Whether `target` was made from the latest state of `source`. */
export function isMadeFromLatest(target: Deployment, { metadata }: Deployment): boolean {
  return target.metadata.annotations?.[CONVERTED_FROM] === `${metadata.uid}/${metadata.generation ?? 0}`;
}

/** The final state after the conversion. */
export function withoutMarks(deployment: Deployment): Deployment {
  const { [CONVERTED_FROM]: _from, [RESUME]: resume, ...annotations } = deployment.metadata.annotations ?? {};
  const { paused, ...spec } = deployment.spec;
  const goesOn = resume !== undefined || paused === undefined;
  return {
    ...deployment,
    metadata: { ...deployment.metadata, annotations },
    spec: { ...spec, ...(!goesOn && { paused }) },
  };
}

/** kubectl's last-applied configuration, so that the next `kubectl apply` only changes what was changed. */
function inApi(lastApplied: string | undefined, apiVersion: string): Record<string, string> {
  if (lastApplied === undefined) return {};
  try {
    const parsed: unknown = JSON.parse(lastApplied);
    const manifest = isJsonObject(parsed) ? parsed : {};
    return { [LAST_APPLIED]: `${JSON.stringify({ ...manifest, apiVersion })}\n` };
  } catch {
    return {};
  }
}

/** Kubernetes refuses rolling update limits with a Recreate; the custom resource allows them. */
function strategyOf({ spec: { strategy } }: Deployment): Pick<Deployment['spec'], 'strategy'> {
  return strategy?.type === 'Recreate' ? { strategy: { type: 'Recreate' } } : {};
}
