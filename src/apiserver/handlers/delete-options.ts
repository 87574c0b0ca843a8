import { exactInteger, parseInt64 } from '@rollkeeper/machinery/kubernetes';
import type { Int64 } from '@rollkeeper/machinery/kubernetes';
import { badRequest, invalid } from '../errors/index.js';
import { decodeDeleteOptions } from '../decoding/index.js';
import type { DeleteOptionsBody } from '../decoding/index.js';
import type { ApiRequest } from '../http/index.js';
import type { DeletionRequest, PropagationPolicy } from '../registry/index.js';
import type { SchemaRegistry } from '../schema/index.js';
import { isDryRun } from './write-options.js';

export interface ReadDeleteOptions extends DeletionRequest {
  readonly dryRun: boolean;
}

const POLICIES = ['Background', 'Foreground', 'Orphan'];

/** Reads `metav1.DeleteOptions` from the body, or from the query where there is none. */
export async function readDeleteOptions(
  request: ApiRequest,
  schemas: SchemaRegistry,
): Promise<ReadDeleteOptions> {
  const body = await request.readBody();
  const options =
    body.length > 0
      ? await decodeDeleteOptions(body, request.contentType, schemas)
      : fromQuery(request.query);
  return checkDeleteOptions(options, request.query);
}

/** @throws StatusError 400, 422 */
export function checkDeleteOptions(options: DeleteOptionsBody, query: URLSearchParams): ReadDeleteOptions {
  const grace = options.gracePeriodSeconds;
  if (grace !== undefined && grace < 0) {
    throw badRequest(`gracePeriodSeconds: Invalid value: ${grace}: must be greater than or equal to 0`);
  }
  return {
    gracePeriodSeconds: grace,
    propagationPolicy: policyOf(options),
    preconditions: options.preconditions,
    dryRun: isDryRun(query, options.dryRun),
  };
}

function fromQuery(query: URLSearchParams): DeleteOptionsBody {
  const orphan = query.get('orphanDependents');
  return {
    gracePeriodSeconds: graceOf(query.get('gracePeriodSeconds') ?? ''),
    propagationPolicy: query.get('propagationPolicy') ?? undefined,
    orphanDependents: orphan === null ? undefined : orphan === 'true',
  };
}

function graceOf(text: string): Int64 | undefined {
  if (text === '') return undefined;
  const grace = parseInt64(text);
  if (grace !== undefined) return exactInteger(grace);
  throw badRequest(`gracePeriodSeconds: Invalid value: ${JSON.stringify(text)}: must be an int64`);
}

function policyOf(options: DeleteOptionsBody): PropagationPolicy | undefined {
  const { propagationPolicy, orphanDependents } = options;
  if (propagationPolicy !== undefined && orphanDependents !== undefined) {
    throw badRequest('Invalid value: orphanDependents and deletionPropagation cannot be both set');
  }
  if (orphanDependents !== undefined) return orphanDependents ? 'Orphan' : 'Background';
  if (propagationPolicy === undefined) return undefined;
  if (POLICIES.includes(propagationPolicy)) return propagationPolicy as PropagationPolicy;
  throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', [
    {
      type: 'FieldValueNotSupported',
      field: 'propagationPolicy',
      message: `Unsupported value: ${JSON.stringify(propagationPolicy)}: supported values: "Background", "Foreground", "Orphan"`,
    },
  ]);
}
