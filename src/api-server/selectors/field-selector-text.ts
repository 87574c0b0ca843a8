import type { UnstructuredObject } from '../../base/kubernetes/index.js';
import { badRequest } from '../errors/index.js';
import type { KindDefinition } from '../kinds/index.js';

interface FieldTerm {
  readonly field: string;
  readonly equal: boolean;
  readonly value: string;
}

/** A compiled `fieldSelector`. */
export interface FieldSelector {
  matches(object: Readonly<UnstructuredObject>): boolean;
  /** The value that `metadata.name` must have, when the selector says so: such a list reads one object only. */
  readonly name?: string;
}

/**
 * Compiles `a=b,c!=d`. Whether a field may be asked for is the kind's to say.
 * @throws StatusError 400
 */
export function parseFieldSelector(text: string | null, kind: KindDefinition): FieldSelector | undefined {
  if (text === null || text.trim() === '') return undefined;
  const terms = splitUnescaped(text).map((term) => parseTerm(term, text));
  const supported = kind.selectableFields(emptyObject(kind));
  for (const { field } of terms) {
    if (!Object.hasOwn(supported, field)) throw badRequest(`field label not supported: ${field}`);
  }
  return {
    name: terms.find((term) => term.field === 'metadata.name' && term.equal)?.value,
    matches: (object) => {
      const fields = kind.selectableFields(object);
      return terms.every(({ field, equal, value }) => ((fields[field] ?? '') === value) === equal);
    },
  };
}

function emptyObject(kind: KindDefinition): UnstructuredObject {
  return { apiVersion: '', kind: kind.type.kind, metadata: { name: '' } };
}

function parseTerm(term: string, text: string): FieldTerm {
  const match = /^([^=!]+)(==|!=|=)(.*)$/s.exec(term);
  if (!match)
    throw badRequest(
      `invalid field selector: ${JSON.stringify(text)}; can't understand ${JSON.stringify(term)}`,
    );
  return {
    field: match[1]!.trim(),
    equal: match[2] !== '!=',
    value: match[3]!.replace(/\\([\\,=])/g, '$1'),
  };
}

/** Splits at the commas that no backslash protects. */
function splitUnescaped(text: string): string[] {
  return text.split(/(?<!\\),/).filter((term) => term.trim() !== '');
}
