import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface CommandOutcome {
  /** The exit code, or `timeout`. */
  readonly exit: number | 'timeout';
  readonly stdout: string;
  readonly stderr: string;
}

/** No recorded command took as long. */
const TIMEOUT_MS = 60_000;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

/** A folder with files, in which commands run one after another, with a kubeconfig, a cache and an editor of their own. */
export class KubectlShell {
  private constructor(
    private readonly dir: string,
    private readonly env: NodeJS.ProcessEnv,
  ) {}

  static async open(kubeconfig: string, files: Readonly<Record<string, string>>): Promise<KubectlShell> {
    const dir = await mkdtemp(join(tmpdir(), 'rollkeeper-kubectl-'));
    const own = join(dir, '.kube');
    await mkdir(own);
    // The commands change its current namespace.
    await copyFile(kubeconfig, join(own, 'config'));
    for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text);
    return new KubectlShell(dir, {
      ...process.env,
      HOME: dir,
      KUBECONFIG: join(own, 'config'),
      KUBECACHEDIR: join(own, 'cache'),
      KUBECTL_EXTERNAL_DIFF: 'diff -u',
      KUBE_EDITOR: 'sed -i s/replicas:.1/replicas:.2/',
    });
  }

  run(command: string): Promise<CommandOutcome> {
    const options = { cwd: this.dir, env: this.env, timeout: TIMEOUT_MS, maxBuffer: MAX_OUTPUT_BYTES };
    return new Promise((resolve) => {
      const child = execFile('bash', ['-c', command], options, (error, stdout, stderr) => {
        resolve({ exit: exitOf(error), stdout, stderr });
      });
      child.stdin?.end();
    });
  }

  close(): Promise<void> {
    return rm(this.dir, { recursive: true, force: true });
  }
}

function exitOf(error: { readonly code?: unknown; readonly killed?: boolean } | null): number | 'timeout' {
  if (!error) return 0;
  if (error.killed === true) return 'timeout';
  return typeof error.code === 'number' ? error.code : 1;
}
