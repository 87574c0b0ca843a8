import type { LongWork } from '@rollkeeper/machinery/clock';
import { apiVersionOf, isJsonObject, uncheckedObject } from '@rollkeeper/machinery/kubernetes';
import type { ResourceType, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { badRequest, unexpected } from '../../schema/errors/index.js';
import { typedProblems, typedProblemText } from '../../schema/managed-fields/index.js';
import { conversionProblem, convertObject, DecodeError, readConfig } from '../../schema/index.js';
import type { SchemaRegistry } from '../../schema/index.js';
import { judgeAppliedFindings } from './field-validation.js';
import type { FieldValidation } from './field-validation.js';

interface DecodeAppliedOptions {
  readonly schemas: SchemaRegistry;
  readonly schema: string;
  readonly kind: ResourceType;
  readonly fieldValidation: FieldValidation;
  /** Yields between reading and checking. @default all at once */
  readonly work?: LongWork;
  /** See `KindDefinition`. @default none */
  readonly conversionProblem?: (object: Readonly<UnstructuredObject>) => string | undefined;
  /** Refuses a configuration that is of another type. @default for "invalid object type" */
  readonly checkType?: (config: Readonly<Record<string, unknown>>) => void;
}

/** A configuration as it is written: an absent field, null and an empty value say three things about ownership. */
interface AppliedConfiguration {
  readonly config: Readonly<Record<string, unknown>>;
  /**
   * Makes of the configuration, laid over an object, what the type has. Changes its argument.
   * @returns with texts for `Warning` headers
   * @throws StatusError 500, as the genuine server, for values that the type has not; 400 for keys that are written twice,
   *   where that is asked for
   */
  readonly complete: (merged: Record<string, unknown>) => {
    readonly object: UnstructuredObject;
    readonly warnings: readonly string[];
  };
}

/**
 * Reads what is applied, which has to be what its type says to the last field.
 * @throws StatusError 400 for what cannot be read or is of another type, 500 as the genuine server for what its type has
 *   not
 */
export async function decodeApplied(
  body: Buffer,
  options: DecodeAppliedOptions,
): Promise<AppliedConfiguration> {
  const { fieldValidation, kind, schema, schemas } = options;
  const { config, findings } = await read(body);
  checkUnmanaged(config);
  (options.checkType ?? refuseOtherType(kind))(config);
  await options.work?.giveWay();
  const problems = typedProblems(config, schemas, schema);
  if (problems.length > 0)
    throw unexpected(
      `failed to create typed patch object ${subject(config, kind)}: ${typedProblemText(problems)}`,
    );
  await options.work?.giveWay();
  const complete = (merged: Record<string, unknown>) => {
    const object = convert(merged, options);
    return { object, warnings: judgeAppliedFindings(findings, fieldValidation) };
  };
  return { config, complete };
}

async function read(body: Buffer): ReturnType<typeof readConfig> {
  try {
    return await readConfig(body.toString('utf8'));
  } catch (error) {
    throw error instanceof DecodeError ? badRequest(error.message, error) : error;
  }
}

function convert(
  merged: Record<string, unknown>,
  { conversionProblem: problemIn, kind, schema, schemas }: DecodeAppliedOptions,
): UnstructuredObject {
  const named = subject(merged, kind);
  const object = uncheckedObject(merged);
  try {
    convertObject(object, schemas, schema);
    const problem = problemIn?.(object);
    if (problem === undefined) return object;
    throw unexpected(`failed to convert new object ${named} to proper version: ${problem}`);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw unexpected(
      `failed to convert new object ${named} to proper version: unable to convert unstructured object to ${gvk(kind)}: ${conversionProblem(error)}`,
    );
  }
}

/** @throws StatusError 400: only the server sets the owners of fields */
function checkUnmanaged({ metadata }: { readonly metadata?: unknown }): void {
  const managed = isJsonObject(metadata) ? metadata.managedFields : undefined;
  if (managed !== undefined && managed !== null) throw badRequest('metadata.managedFields must be nil');
}

function refuseOtherType(type: ResourceType): (config: Readonly<Record<string, unknown>>) => void {
  return (config) => {
    const apiVersion = textOf(config.apiVersion);
    const kind = textOf(config.kind);
    if (apiVersion === apiVersionOf(type) && kind === type.kind) return;
    const groupVersion = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
    throw badRequest(`invalid object type: ${groupVersion}, Kind=${kind}`);
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** `(namespace/name; apps/v1, Kind=Deployment)`, of what the object says itself */
function subject({ metadata }: Readonly<Record<string, unknown>>, type: ResourceType): string {
  const { name, namespace } = isJsonObject(metadata) ? metadata : {};
  return `(${textOf(namespace)}/${textOf(name)}; ${gvk(type)})`;
}

function gvk({ group, kind, version }: ResourceType): string {
  return `${group}/${version}, Kind=${kind}`;
}
