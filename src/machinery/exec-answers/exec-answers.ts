import * as z from 'zod';
import { errorMessage } from '../errors/index.js';
import { ownField } from '../kubernetes/index.js';
import { parseShortYaml } from '../text/index.js';

/**
 * Annotation on a pod: the answers of commands in its containers. With a dot and a container's name appended, it
 * applies to that container only.
 */
export const EXEC_ANNOTATION = 'node.rollkeeper.dev/exec';
/** Characters of the annotation: each probe of a pod reads it, in a process that serves other pods too. */
const LONGEST_TEXT = 16 * 1024;
/** Characters of each part of a problem: it repeats a line of the text, and not all of it. */
const LONGEST_PART = 80;
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

/** @throws Error with one line that describes the first problem in the annotation's text */
export function readExecAnswers(text: string): ExecAnswers {
  try {
    return answers.parse(parseShortYaml(text, LONGEST_TEXT));
  } catch (error) {
    const problem = error instanceof z.ZodError ? firstProblem(error) : errorMessage(error);
    throw new Error(`the annotation ${EXEC_ANNOTATION} is not a map of commands to answers: ${problem}`, {
      cause: error,
    });
  }
}

function firstProblem({ issues: [issue] }: z.ZodError): string {
  const path = issue?.path ?? [];
  if (path.length === 0) return 'it is no map';
  return `${shortened(path.map(String).join('.'))}: ${shortened(issue?.message ?? 'it is not valid')}`;
}

function shortened(text: string): string {
  return text.length > LONGEST_PART ? `${text.slice(0, LONGEST_PART)}…` : text;
}

/** Undefined if the container has no such command. */
export function answerTo(known: ExecAnswers, command: readonly string[]): ExecAnswer | undefined {
  return ownField(known, command.join(' ')) ?? ownField(known, ANY);
}
