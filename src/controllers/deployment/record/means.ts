import { isJsonObject } from '@rollkeeper/machinery/kubernetes';
import type { Trigger } from '../policies/history/history.js';
import type { Means } from './record-entry.js';

/** The manager that wrote a field last, by its managedFields. */
export interface FieldWriter {
  readonly manager: string;
  readonly subresource?: string;
  /** RFC 3339. */
  readonly time?: string;
}

const GITOPS = /argo|flux|kustomize-controller|helm-controller|fleet|gitjob|gitops|sveltos/i;
/** kube-controller-manager scales for its autoscaler; ours calls itself by the name of the program. */
const AUTOSCALERS = /controller-manager|autoscal|keda|^rollkeeper$/i;

/** The last writer of `spec.replicas`; undefined where the server does not keep managedFields. */
export function lastWriterOfSize(managedFields: readonly unknown[] = []): FieldWriter | undefined {
  const [last] = managedFields
    .filter(isJsonObject)
    .filter(({ fieldsV1 }) => ownsReplicas(fieldsV1))
    .toSorted((a, b) => (String(a['time']) < String(b['time']) ? 1 : -1));
  const { manager, subresource, time } = last ?? {};
  if (typeof manager !== 'string') return undefined;
  return {
    manager,
    ...(typeof subresource === 'string' && subresource !== '' && { subresource }),
    ...(typeof time === 'string' && { time }),
  };
}

function ownsReplicas(fields: unknown): boolean {
  const spec = isJsonObject(fields) ? fields['f:spec'] : undefined;
  return isJsonObject(spec) && spec['f:replicas'] !== undefined;
}

/** By which means a size or a template was written. Undefined: unknown. */
export function meansOf(writer: Pick<FieldWriter, 'manager' | 'subresource'> | undefined): Means | undefined {
  if (!writer) return undefined;
  const { manager, subresource } = writer;
  if (GITOPS.test(manager)) return 'gitops';
  if (subresource !== 'scale') return 'user';
  return AUTOSCALERS.test(manager) ? 'autoscaler' : 'kubectl-scale';
}

/** By which means a revision was asked for. @param tool the field manager of its template */
export function meansOfRevision(trigger: Trigger | undefined, tool: string | undefined): Means | undefined {
  if (trigger === 'rollback' || trigger === 'configuration') return trigger;
  return meansOf(tool === undefined ? undefined : { manager: tool });
}
