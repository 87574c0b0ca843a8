import type { Environment } from '@marcbachmann/cel-js';
import { EvaluationError, Optional } from '@marcbachmann/cel-js';
import { register, registerNamespace } from './register.js';

/** The value of `Object.spec{replicas: 3}`. */
export class ObjectLiteral {
  constructor(
    /** `Object.spec` */
    readonly typeName: string,
    readonly fields: ReadonlyMap<string, unknown>,
  ) {}
}

/** The value of `JSONPatch{op: "add", path: "/x", value: 1}`. */
export class PatchLiteral {
  constructor(readonly fields: ReadonlyMap<string, unknown>) {}
}

const OBJECT_CALL = 'objectLiteral_';
const PATCH_CALL = 'patchLiteral_';
const PATCH_FIELDS: ReadonlySet<string> = new Set(['op', 'path', 'from', 'value']);

/** Texts and comments, the beginning of a literal, the name of a field, brackets. */
const TOKEN =
  /(?<skipped>[rR]?[bB]?(?:'''[^]*?'''|"""[^]*?"""|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*")|\/\/[^\n]*)|(?<![\w.])(?<type>Object(?:\.[A-Za-z_]\w*)*|JSONPatch)\s*\{|(?<bracket>[([{}\])])|(?<comma>,)|(?<word>[A-Za-z_]\w*)/gy;
const FIELD = /\s*(?:(?<mark>\?)\s*)?(?<name>[A-Za-z_]\w*)\s*:/y;

/**
 * Rewrites literals of objects into calls, which the library can read: `Object.spec{a: x, ?b: y}` into
 * `objectLiteral_("Object.spec", {"a": x, "?b": y})`.
 */
export function withObjectLiterals(expression: string): string {
  let made = '';
  let at = 0;
  let isFieldNext = false;
  /** For each open bracket, what closes it. */
  const open: { readonly end: string; readonly isLiteral: boolean }[] = [];
  while (at < expression.length) {
    if (isFieldNext) {
      isFieldNext = false;
      FIELD.lastIndex = at;
      const field = FIELD.exec(expression)?.groups;
      if (field) {
        made += `"${field['mark'] ?? ''}${field['name']}":`;
        at = FIELD.lastIndex;
        continue;
      }
    }
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(expression);
    if (!found) {
      made += expression[at++]!;
      continue;
    }
    at = TOKEN.lastIndex;
    const { type, bracket, comma } = found.groups!;
    if (type !== undefined) {
      made += type === 'JSONPatch' ? `${PATCH_CALL}({` : `${OBJECT_CALL}("${type}", {`;
      open.push({ end: '})', isLiteral: true });
      isFieldNext = true;
    } else if (bracket !== undefined && '([{'.includes(bracket)) {
      made += bracket;
      open.push({ end: '', isLiteral: false });
    } else if (bracket !== undefined) {
      const closed = open.pop();
      made += closed?.isLiteral && bracket === '}' ? closed.end : bracket;
    } else {
      made += found[0];
      if (comma !== undefined) isFieldNext = open.at(-1)?.isLiteral ?? false;
    }
  }
  return made;
}

/** The types of the literals, and `jsonpatch.escapeKey`. */
export function registerObjectLiterals(environment: Environment): void {
  environment.registerType('Object', ObjectLiteral);
  environment.registerType('JSONPatch', PatchLiteral);
  const namespace = registerNamespace(environment, 'jsonpatch');
  register(environment, {
    [`${OBJECT_CALL}(string, map): Object`]: (typeName: string, fields: GivenFields) =>
      new ObjectLiteral(typeName, fieldsOf(fields)),
    [`${PATCH_CALL}(map): JSONPatch`]: (given: GivenFields) => {
      const fields = fieldsOf(given);
      for (const name of fields.keys())
        if (!PATCH_FIELDS.has(name)) throw new EvaluationError(`no such field: ${name}`);
      return new PatchLiteral(fields);
    },
    [`${namespace}.escapeKey(string): string`]: (_jsonpatch: unknown, key: string) =>
      key.replaceAll('~', '~0').replaceAll('/', '~1'),
  });
}

/** The two forms in which the library passes a map. */
type GivenFields = Map<string, unknown> | Record<string, unknown>;

/** Fields whose name has a mark are there if their optional has a value. */
function fieldsOf(given: GivenFields): Map<string, unknown> {
  const entries = given instanceof Map ? given : Object.entries(given);
  const fields = new Map<string, unknown>();
  for (const [name, value] of entries) {
    if (!name.startsWith('?')) fields.set(name, value);
    else if (!(value instanceof Optional))
      throw new EvaluationError(`the field ${name.slice(1)} wants an optional value`);
    else if (value.hasValue()) fields.set(name.slice(1), value.value());
  }
  return fields;
}
