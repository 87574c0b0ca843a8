import { ownField } from '@rollkeeper/machinery/kubernetes';
import type { StructuralSchema } from '../../../schema/index.js';
import { isSchema } from '../structural/structural-defaults.js';

/** The field at the end of a path. */
interface FoundField {
  /** As errors write it below the value: `.spec.hosts[a.b]`. */
  readonly shown: string;
  /** Undefined if the schema does not describe it further. */
  readonly schema: StructuralSchema | undefined;
  /** The first step. */
  readonly root: string;
}

/** The fault of a path. */
interface PathProblem {
  readonly problem: string;
}

const NOT_FOUND: PathProblem = { problem: 'does not refer to a valid field' };
const AT_END: PathProblem = { problem: 'unexpected end of JSON path' };
const ESCAPED: Readonly<Record<string, string>> = {
  ...{ a: '\u0007', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' },
  ...{ "'": "'", '\\': '\\' },
};
/** A text in quotes up to one that no backslash precedes, a delimiter, or all up to the next. */
const TOKEN = /'(?:[\s\S]*?[^\\])??'|'[\s\S]*|[.[\]]|[^.[\]]+/gy;

/**
 * The field to which a path such as `.spec.hosts['a.b']` leads in a schema. Source: ValidFieldPath in
 * apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go.
 * @param allowsBrackets whether steps may be written in brackets
 */
export function fieldAt(
  path: string,
  schema: StructuralSchema,
  allowsBrackets = true,
): FoundField | PathProblem {
  const tokens = path.match(TOKEN) ?? [];
  let here: FoundField = { shown: '', schema, root: '' };
  for (let at = 0; at < tokens.length;) {
    const opening = tokens[at++]!;
    let step: string | undefined;
    if (opening === '.') step = tokens[at++];
    else if (opening !== '[') return { problem: `expected [ or . but got: ${opening}` };
    else if (!allowsBrackets) return { problem: 'array notation is not allowed' };
    else {
      const quoted = tokens[at++];
      if (quoted === undefined) return AT_END;
      const name = unquoted(quoted);
      if (typeof name !== 'string') return name;
      step = name;
    }
    if (step === undefined) return AT_END;
    const next = stepInto(here, step);
    if ('problem' in next) return next;
    here = next;
    if (opening === '[') {
      const closing = tokens[at++];
      if (closing === undefined) return AT_END;
      if (closing !== ']') return { problem: `expected ] but got ${closing}` };
    }
  }
  return here;
}

function unquoted(token: string): string | PathProblem {
  if (token.length < 2 || !token.startsWith("'") || !token.endsWith("'"))
    return { problem: `expected single quoted string but got ${token}` };
  const text = token.slice(1, -1);
  const wrong = [...text.matchAll(/\\(.)/g)].find(([, letter = '']) => !Object.hasOwn(ESCAPED, letter));
  if (wrong) return { problem: `invalid string literal: invalid escape char ${wrong[0]}` };
  return text.replaceAll(/\\(.)/g, (_whole, letter: string) => ESCAPED[letter]!);
}

function stepInto({ shown, schema, root }: FoundField, step: string): FoundField | PathProblem {
  const { properties, additionalProperties }: StructuralSchema = schema ?? {};
  const first = root || step;
  if (properties && Object.keys(properties).length > 0) {
    const property = ownField(properties, step);
    return property ? { shown: `${shown}.${step}`, schema: property, root: first } : NOT_FOUND;
  }
  if (additionalProperties === undefined) return NOT_FOUND;
  const below = isSchema(additionalProperties) ? additionalProperties : undefined;
  return { shown: `${shown}[${step}]`, schema: below, root: first };
}
