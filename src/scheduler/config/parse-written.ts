import type { ZodType } from 'zod';
import { parseDocument } from 'yaml';
import { InvalidOptionError, errorMessage } from '@rollkeeper/machinery/errors';

/** Text as YAML or JSON. @throws InvalidOptionError naming `option` */
export function parseText(option: string, text: string): unknown {
  const document = parseDocument(text);
  const [problem] = document.errors;
  if (problem) throw new InvalidOptionError(option, `is neither YAML nor JSON: ${problem.message}`);
  try {
    return document.toJS();
  } catch (error) {
    throw new InvalidOptionError(option, errorMessage(error), { cause: error });
  }
}

/** @throws InvalidOptionError naming the first wrong field as it is written: `profiles[0].plugins.score.enabled[1].weight` */
export function parseWith<Parsed>(schema: ZodType<Parsed>, written: unknown): Parsed {
  const parsed = schema.safeParse(written);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path ?? [];
  if (issue?.code === 'unrecognized_keys')
    throw new InvalidOptionError(fieldAt([...path, issue.keys[0] ?? '']), 'there is no such field');
  throw new InvalidOptionError(fieldAt(path) || 'configuration', issue?.message ?? 'is not valid', {
    cause: parsed.error,
  });
}

function fieldAt(path: readonly PropertyKey[]): string {
  return path.reduce<string>((field, part) => {
    if (typeof part === 'number') return `${field}[${part}]`;
    return field === '' ? String(part) : `${field}.${String(part)}`;
  }, '');
}
