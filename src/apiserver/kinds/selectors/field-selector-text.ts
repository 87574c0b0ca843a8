import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { badRequest } from '../../schema/errors/index.js';
import type { KindDefinition } from '../index.js';

/** A field that must have a value. */
interface FieldRequirement {
  readonly field: string;
  readonly value: string;
}

interface FieldTerm {
  readonly field: string;
  readonly equal: boolean;
  readonly value: string;
}

/** A compiled `fieldSelector`. */
interface FieldSelector {
  matches(object: Readonly<UnstructuredObject>): boolean;
  /** The value that `metadata.name` must have, when the selector says so: such a list reads one object only. */
  readonly name?: string;
}

/** The parts of a kind that a selector needs. */
export type SelectableKind = Pick<KindDefinition, 'type' | 'selectableFields'> &
  Partial<Pick<KindDefinition, 'unknownField'>>;

/**
 * Compiles `a=b,c!=d`. Whether a field may be asked for is the kind's to say.
 * @throws StatusError 400
 */
export function parseFieldSelector(text: string | null, kind: SelectableKind): FieldSelector | undefined {
  const terms = fieldTerms(text);
  if (terms.length === 0) return undefined;
  const supported = kind.selectableFields(emptyObject(kind));
  for (const { field } of terms) {
    if (!Object.hasOwn(supported, field))
      throw badRequest(kind.unknownField?.(field) ?? `field label not supported: ${field}`);
  }
  return {
    name: terms.find(isNameTerm)?.value,
    matches: (object) => {
      const fields = kind.selectableFields(object);
      return terms.every(({ field, equal, value }) => ((fields[field] ?? '') === value) === equal);
    },
  };
}

/**
 * The terms of a selector of any kind. One that says nothing (`=`) selects everything.
 * @throws StatusError 400 for a text that cannot be read
 */
export function fieldTerms(text: string | null): readonly FieldTerm[] {
  if (text === null || text.trim() === '') return [];
  const terms = splitUnescaped(text).sort();
  return terms.map((term) => parseTerm(term, text)).filter(({ field, value }) => field + value !== '');
}

/**
 * The only name that objects selected by a `fieldSelector` can have, as apiserver's `RequestInfo` finds it; undefined where
 * several names are possible, or the text is no selector.
 */
export function requiredName(text: string | null): string | undefined {
  const name = requiredFields(text).find(({ field }) => field === 'metadata.name')?.value ?? '';
  return NO_PATH_SEGMENT.test(name) ? undefined : name;
}

/** The values that a `fieldSelector` says fields have; none where the text is no selector. */
export function requiredFields(text: string | null): readonly FieldRequirement[] {
  const terms = splitUnescaped(text ?? '').map(readTerm);
  if (!terms.every((term) => term !== undefined)) return [];
  return terms.flatMap(({ equal, field, value }) => (equal ? [{ field, value }] : []));
}

const NO_PATH_SEGMENT = /^\.{0,2}$|[/%]/;

/** Whether the text can be read as a selector. */
export function isFieldSelector(text: string): boolean {
  return splitUnescaped(text).every((term) => readTerm(term) !== undefined);
}

function isNameTerm({ equal, field }: FieldTerm): boolean {
  return equal && field === 'metadata.name';
}

function emptyObject(kind: SelectableKind): UnstructuredObject {
  return { apiVersion: '', kind: kind.type.kind, metadata: { name: '' } };
}

function parseTerm(term: string, text: string): FieldTerm {
  const parsed = readTerm(term);
  if (!parsed) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
  const [, sequence] = /^(?:[^\\]|\\[\\,=])*?(\\[^\\,=]|\\$)/s.exec(parsed.written) ?? [];
  if (sequence !== undefined)
    throw badRequest(`invalid field selector: invalid escape sequence: ${sequence}`);
  return parsed;
}

function readTerm(term: string): (FieldTerm & { readonly written: string }) | undefined {
  const match = /^([^=!]*)(==|!=|=)(.*)$/s.exec(term);
  if (!match) return undefined;
  const [, field = '', operator, written = ''] = match;
  const value = written.replace(/\\([\\,=])/g, '$1');
  return { field: field.trim(), equal: operator !== '!=', value, written };
}

/** Splits at the commas that no backslash protects. */
function splitUnescaped(text: string): string[] {
  return text.split(/(?<!\\),/).filter((term) => term.trim() !== '');
}
