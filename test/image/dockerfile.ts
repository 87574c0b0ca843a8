import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Instruction, JSONInstruction } from 'dockerfile-ast';
import { DockerfileParser } from 'dockerfile-ast';

export const ROOT = join(import.meta.dirname, '..', '..');

/** One instruction, as far as ours use them. */
export interface Step {
  readonly keyword: string;
  /** Without its flags; of a list in JSON, its strings. */
  readonly words: readonly string[];
  readonly flags: Readonly<Record<string, string>>;
  /** All that stands behind the keyword. */
  readonly text: string;
}

export interface Stage {
  /** Empty for one without a name. */
  readonly name: string;
  /** Another stage, or an image. */
  readonly from: string;
  readonly steps: readonly Step[];
}

/** The stages of a Dockerfile, first to last. */
export function parseDockerfile(text: string): Stage[] {
  const stages: { name: string; from: string; steps: Step[] }[] = [];
  for (const instruction of DockerfileParser.parse(text).getInstructions()) {
    const step = stepOf(instruction);
    const [from = '', , name = ''] = step.words;
    if (step.keyword === 'FROM') stages.push({ name, from, steps: [] });
    else stages.at(-1)?.steps.push(step);
  }
  return stages;
}

export const ownDockerfile = (): Stage[] => parseDockerfile(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'));

/** The steps of a stage, behind those of its base stages. */
export function stepsWithBases(stage: Stage, stages: readonly Stage[]): Step[] {
  const base = stages.find(({ name }) => name === stage.from);
  return [...(base ? stepsWithBases(base, stages) : []), ...stage.steps];
}

/**
 * Names that .dockerignore lets into the build, which is a list of what is let in. @throws Error when it is another
 * @param file a path. @default our own
 */
export function allowedInContext(file = join(ROOT, '.dockerignore')): string[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  const [first, ...rest] = lines.filter((line) => line !== '' && !line.startsWith('#'));
  if (first !== '*') throw new Error('.dockerignore must begin by leaving everything out');
  return rest.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
}

function stepOf(instruction: Instruction): Step {
  const flagged = instruction as Partial<JSONInstruction>;
  const flags = (flagged.getFlags?.() ?? []).map((flag) => [flag.getName(), flag.getValue() ?? '']);
  const words = instruction.getArguments().map((argument) => argument.getValue());
  // A list in JSON may come behind a further keyword: HEALTHCHECK CMD ["…"].
  const json = /\[.*\]$/s.exec(words.join(' '));
  return {
    keyword: instruction.getKeyword(),
    words: json ? (JSON.parse(json[0]) as string[]) : words,
    flags: Object.fromEntries(flags) as Record<string, string>,
    text: instruction.getArgumentsContent() ?? '',
  };
}
