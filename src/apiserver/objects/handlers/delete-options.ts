import { exactInteger, goQuote, parseInt64 } from '@rollkeeper/machinery/kubernetes';
import type { Int64 } from '@rollkeeper/machinery/kubernetes';
import { badRequest } from '../../schema/errors/index.js';
import type { FieldError } from '../../schema/errors/index.js';
import {
  decodeDeleteOptions,
  dryRunProblems,
  invalidOptions,
  notAnInteger,
} from '../../http/decoding/index.js';
import type { DeleteOptionsBody } from '../../http/decoding/index.js';
import type { ApiRequest } from '../../http/index.js';
import type { DeletionRequest, PropagationPolicy } from '../registry/index.js';
import type { SchemaRegistry } from '../../schema/index.js';

export interface ReadDeleteOptions extends DeletionRequest {
  readonly dryRun: boolean;
  /** In the words of older clients, dependents are deleted as well. */
  readonly asksForDependents: boolean;
}

/** The fates that a deletion may give to dependents. */
export const POLICIES: readonly string[] = ['Foreground', 'Background', 'Orphan'];

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

/** @throws StatusError 422 */
export function checkDeleteOptions(options: DeleteOptionsBody, query: URLSearchParams): ReadDeleteOptions {
  const { dryRun = [], gracePeriodSeconds: grace } = options;
  const inQuery = query.getAll('dryRun').filter((value) => value !== '');
  const problems = [...policyProblems(options), ...dryRunProblems(dryRun.length > 0 ? dryRun : inQuery)];
  if (problems.length > 0) throw invalidOptions('DeleteOptions', problems);
  return {
    // Less than nothing is as good as at once.
    gracePeriodSeconds: grace !== undefined && grace < 0 ? 1 : grace,
    propagationPolicy: policyOf(options),
    preconditions: options.preconditions,
    // A genuine server ignores the query if there is a body. Here a client that asks for a dry run gets one.
    dryRun: dryRun.length + inQuery.length > 0,
    asksForDependents: options.orphanDependents === false,
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
  throw badRequest(notAnInteger(text));
}

function policyOf({ orphanDependents, propagationPolicy }: DeleteOptionsBody): PropagationPolicy | undefined {
  if (orphanDependents !== undefined) return orphanDependents ? 'Orphan' : 'Background';
  return propagationPolicy as PropagationPolicy | undefined;
}

function policyProblems({ orphanDependents, propagationPolicy }: DeleteOptionsBody): FieldError[] {
  if (propagationPolicy === undefined) return [];
  const field = 'propagationPolicy';
  const shown = goQuote(propagationPolicy);
  const both = `Invalid value: ${shown}: orphanDependents and deletionPropagation cannot be both set`;
  const unknown = `Unsupported value: ${shown}: supported values: ${POLICIES.map(goQuote).join(', ')}, "nil"`;
  return [
    ...(orphanDependents === undefined ? [] : [{ type: 'FieldValueInvalid' as const, field, message: both }]),
    ...(POLICIES.includes(propagationPolicy)
      ? []
      : [{ type: 'FieldValueNotSupported' as const, field, message: unknown }]),
  ];
}
