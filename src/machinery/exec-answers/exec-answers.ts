import { parse as parseYaml } from 'yaml';
import * as z from 'zod';
import { errorMessage } from '../errors/index.js';
import { ownField } from '../kubernetes/index.js';

/**
 * Annotation on a pod: the answers of commands in its containers. With a dot and a container's name appended, it
 * applies to that container only.
 */
export const EXEC_ANNOTATION = 'node.rollkeeper.dev/exec';
/** In the annotation: any other command. */
const ANY = '*';

/** The canned answer of a command, which is never run. */
export interface ExecAnswer {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

export type ExecAnswers = Readonly<Record<string, ExecAnswer>>;

const answers = z.record(
  z.string(),
  z.union([
    z.string().transform((stdout): ExecAnswer => ({ stdout, stderr: '', exitCode: 0 })),
    z.strictObject({
      stdout: z.string().default(''),
      stderr: z.string().default(''),
      exitCode: z.int().min(0).max(255).default(0),
    }),
  ]),
);

/** @throws Error describing the problem in the annotation's text */
export function readExecAnswers(text: string): ExecAnswers {
  try {
    return answers.parse(parseYaml(text));
  } catch (error) {
    const problem = error instanceof z.ZodError ? z.prettifyError(error) : errorMessage(error);
    throw new Error(`the annotation ${EXEC_ANNOTATION} is not a map of commands to answers: ${problem}`, {
      cause: error,
    });
  }
}

/** Undefined if the container has no such command. */
export function answerTo(known: ExecAnswers, command: readonly string[]): ExecAnswer | undefined {
  return ownField(known, command.join(' ')) ?? ownField(known, ANY);
}
