import type { ChildProcess } from 'node:child_process';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { BuiltStage } from './build-stages.js';
import { canGiveAway } from './build-stages.js';
import type { Step } from './dockerfile.js';

export interface Image {
  readonly built: BuiltStage;
  readonly steps: readonly Step[];
}

const wordsOf = ({ steps }: Image, keyword: string): readonly string[] =>
  steps.find((step) => step.keyword === keyword)?.words ?? [];

/** How the image's processes run: its user, its folder, its environment, and nothing of ours. */
export function placeOf(image: Image, env: NodeJS.ProcessEnv) {
  const { built } = image;
  const [uid, gid] = wordsOf(image, 'USER').join('').split(':').map(Number);
  return {
    cwd: join(built.root, built.workdir),
    env: { ...built.env, ...env, PATH: '/usr/bin:/bin' },
    ...(canGiveAway ? { uid, gid } : {}),
  };
}

/** `node` in the image is the one that runs this. */
const programOf = ([, ...args]: readonly string[]): [string, string[]] => [process.execPath, [...args]];

/** One container's process. */
export class StartedImage {
  output = '';
  private readonly child: ChildProcess;

  constructor(
    private readonly image: Image,
    readonly name: string,
    args: readonly string[],
    env: NodeJS.ProcessEnv = {},
  ) {
    const [node, entry] = programOf(wordsOf(image, 'ENTRYPOINT'));
    this.child = spawn(node, [...entry, ...args], {
      ...placeOf(image, env),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.child.stdout, this.child.stderr])
      stream?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
  }

  /** Whether the image's health check passes, asked at another address. @throws Error when the process has ended */
  isHealthy(url: string): boolean {
    if (this.child.exitCode !== null) throw new Error(`${this.name} ended: ${this.output}`);
    const [node, args] = programOf(wordsOf(this.image, 'HEALTHCHECK'));
    try {
      execFileSync(node, [...args, '--url', url], { ...placeOf(this.image, {}), stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  }

  /** As an engine does it; answers the exit code. */
  async stop(): Promise<number | null> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const exit = once(this.child, 'exit');
      this.child.kill('SIGTERM');
      await exit;
    }
    return this.child.exitCode;
  }
}
