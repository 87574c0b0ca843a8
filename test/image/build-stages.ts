import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, lstatSync, mkdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Stage, Step } from './dockerfile.js';
import { ROOT, allowedInContext } from './dockerfile.js';

/** A stage that was carried out: a folder that stands for the root of its file system. */
export interface BuiltStage {
  readonly root: string;
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Only the superuser can give files away; for others the image's user is the one who runs this. */
export const canGiveAway = process.getuid?.() === 0;

/**
 * Carries out every stage, in a folder of its own below `folder`, with the Node of this process in place of the image's.
 * @param project the folder with the Dockerfile. @default our own
 * @throws Error for an instruction that it does not know, or a command that fails
 */
export function buildStages(
  stages: readonly Stage[],
  folder: string,
  say: (line: string) => void,
  project = ROOT,
): BuiltStage {
  const built = new Map<string, BuiltStage>();
  const context = join(folder, 'context');
  copyContext(project, context);
  stages.forEach((stage, index) => {
    const root = join(folder, `stage-${index}`);
    const base = built.get(stage.from);
    if (base) cpSync(base.root, root, { recursive: true });
    else mkdirSync(root);
    let now: BuiltStage = { workdir: '/', env: {}, ...base, root };
    for (const step of stage.steps) {
      say(`${stage.name || 'image'}: ${step.keyword} ${step.text.split('\n')[0]}`);
      now = carryOut(step, now, { built, context });
    }
    built.set(stage.name, now);
  });
  return built.get(stages.at(-1)?.name ?? '') as BuiltStage;
}

interface Sources {
  readonly built: ReadonlyMap<string, BuiltStage>;
  readonly context: string;
}

function carryOut(step: Step, stage: BuiltStage, sources: Sources): BuiltStage {
  switch (step.keyword) {
    case 'WORKDIR':
      mkdirSync(join(stage.root, step.text), { recursive: true });
      return { ...stage, workdir: step.text };
    case 'ENV':
      return { ...stage, env: { ...stage.env, ...Object.fromEntries(step.words.map(assignment)) } };
    case 'COPY':
      copy(step, stage, sources);
      return stage;
    case 'RUN':
      execFileSync('sh', ['-c', step.text], {
        cwd: join(stage.root, stage.workdir),
        env: { ...stage.env, ...PLACE, PATH: `${dirname(process.execPath)}:/usr/bin:/bin` },
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      return stage;
    case 'USER':
    case 'LABEL':
    case 'EXPOSE':
    case 'HEALTHCHECK':
    case 'ENTRYPOINT':
    case 'CMD':
      return stage;
    default:
      throw new Error(`${step.keyword} cannot be carried out here`);
  }
}

/**
 * The variables that npm needs of the machine: the places of its cache and its settings, and the authorities that it
 * trusts besides.
 */
const PLACE = Object.fromEntries(
  Object.entries(process.env).filter(([name]) =>
    /^(HOME|NODE_EXTRA_CA_CERTS|npm_config_(cache|registry|userconfig))$/.test(name),
  ),
);

const assignment = (word: string): [string, string] => [
  word.slice(0, word.indexOf('=')),
  word.slice(word.indexOf('=') + 1),
];

function copy({ flags, words }: Step, stage: BuiltStage, { built, context }: Sources): void {
  const from = flags['from'] === undefined ? context : built.get(flags['from'])?.root;
  if (from === undefined) throw new Error(`COPY from ${flags['from']}, which is no stage`);
  const [target = '', ...paths] = [...words].reverse();
  const place = join(stage.root, resolve(stage.workdir, target));
  for (const path of paths) {
    const source = join(from, path);
    const isFolder = lstatSync(source).isDirectory();
    const at = isFolder ? place : target.endsWith('/') ? join(place, basename(path)) : place;
    cpSync(source, at, { recursive: true });
    const [uid, gid] = (flags['chown'] ?? '').split(':').map(Number);
    if (canGiveAway && uid && gid) chownSync(at, uid, gid);
    // The owner of a new folder in an image may write to it, regardless of this machine's mask.
    if (isFolder) chmodSync(at, 0o755);
  }
}

function copyContext(project: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const path of allowedInContext(join(project, '.dockerignore')))
    cpSync(join(project, path), join(folder, path), {
      recursive: true,
      filter: (file) => !file.endsWith('.spec.ts'),
    });
}
