import { apiVersionOf, isJsonObject } from '@rollkeeper/machinery/kubernetes';
import type { ResourceType, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { badRequest, unexpected } from '../errors/index.js';
import type { StatusError } from '../errors/index.js';
import { typedProblems, typedProblemText } from '../managed-fields/index.js';
import { conversionProblem, decodeConfig, DecodeError } from '../schema/index.js';
import type { SchemaRegistry } from '../schema/index.js';
import { judgeFindings } from './field-validation.js';
import type { FieldValidation } from './field-validation.js';

export interface DecodeAppliedOptions {
  readonly schemas: SchemaRegistry;
  readonly schema: string;
  readonly kind: ResourceType;
  readonly fieldValidation: FieldValidation;
  /** Of the path. */
  readonly name: string;
  readonly namespace: string;
}

/**
 * Reads what is applied, which has to be what its type says to the last field.
 * @throws StatusError 400 for what cannot be read or is of another type, 500 as the genuine server for what its type has
 *   not
 */
export async function decodeApplied(
  body: Buffer,
  options: DecodeAppliedOptions,
): Promise<{ readonly object: UnstructuredObject; readonly warnings: readonly string[] }> {
  const { fieldValidation, kind, schema, schemas } = options;
  const inspect = (document: Record<string, unknown>): void => {
    checkUnmanaged(document);
    checkType(document, kind);
    const problems = typedProblems(document, schemas, schema);
    if (problems.length > 0)
      throw unexpected(
        `failed to create typed patch object ${subject({ ...options, namespace: namespaceIn(document) })}: ${typedProblemText(problems)}`,
      );
  };
  try {
    const { findings, object } = await decodeConfig(body.toString('utf8'), schemas, schema, {
      ...{ fieldValidation, inspect },
    });
    return { object, warnings: judgeFindings(findings, fieldValidation, kind) };
  } catch (error) {
    throw error instanceof DecodeError ? refusalOf(error, options) : error;
  }
}

function refusalOf(error: DecodeError, options: DecodeAppliedOptions): StatusError {
  if (error.problem === 'malformed') return badRequest(error.message, error);
  const type = `${gvk(options.kind)}`;
  return unexpected(
    `failed to convert new object ${subject(options)} to proper version: unable to convert unstructured object to ${type}: ${conversionProblem(error)}`,
  );
}

/** @throws StatusError 400: only the server sets the owners of fields */
export function checkUnmanaged({ metadata }: { readonly metadata?: unknown }): void {
  const managed = isJsonObject(metadata) ? metadata.managedFields : undefined;
  if (managed !== undefined && managed !== null) throw badRequest('metadata.managedFields must be nil');
}

function checkType(document: Readonly<Record<string, unknown>>, type: ResourceType): void {
  const apiVersion = textOf(document.apiVersion);
  const kind = textOf(document.kind);
  if (apiVersion === apiVersionOf(type) && kind === type.kind) return;
  const groupVersion = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
  throw badRequest(`invalid object type: ${groupVersion}, Kind=${kind}`);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** `(namespace/name; apps/v1, Kind=Deployment)` */
function subject({ kind, name, namespace }: DecodeAppliedOptions): string {
  return `(${namespace}/${name}; ${gvk(kind)})`;
}

/** The namespace that a configuration gives itself, which it may leave to the path. */
function namespaceIn({ metadata }: Readonly<Record<string, unknown>>): string {
  const named = isJsonObject(metadata) ? metadata.namespace : undefined;
  return typeof named === 'string' ? named : '';
}

function gvk({ group, kind, version }: ResourceType): string {
  return `${group}/${version}, Kind=${kind}`;
}
