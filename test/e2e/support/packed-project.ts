import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..', '..');

interface PackageJson {
  readonly bin: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
}

/** What a stranger has beside the package itself. */
const OWN_PACKAGES = ['typescript', '@types/node', 'vitest'];

const COMPILER_OPTIONS = {
  target: 'ES2024',
  module: 'nodenext',
  types: ['node'],
  strict: true,
  experimentalDecorators: true,
  rewriteRelativeImportExtensions: true,
  skipLibCheck: true,
  outDir: 'out',
};

/**
 * An empty project into which the packed package is installed, outside of the repository. Without a network: its dependencies
 * are the repository's, but only those that package.json names can be found.
 */
export class PackedProject {
  readonly directory = realpathSync(mkdtempSync(join(tmpdir(), 'rollkeeper-project-')));

  constructor() {
    const modules = join(this.directory, 'node_modules');
    mkdirSync(join(modules, '.bin'), { recursive: true });
    const quiet = { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' } as const;
    const packed = execFileSync(
      'npm',
      ['pack', '--json', '--ignore-scripts', '--pack-destination', this.directory],
      quiet,
    );
    const [{ filename } = { filename: '' }] = JSON.parse(packed) as { filename: string }[];
    execFileSync('tar', ['-xzf', join(this.directory, filename), '-C', modules]);
    execFileSync('mv', [join(modules, 'package'), this.installed()]);
    const { bin, dependencies } = JSON.parse(
      readFileSync(this.installed('package.json'), 'utf8'),
    ) as PackageJson;
    for (const [name, path] of Object.entries(bin))
      symlinkSync(this.installed(path), join(modules, '.bin', name));
    for (const name of [...Object.keys(dependencies), ...OWN_PACKAGES]) {
      mkdirSync(dirname(join(modules, name)), { recursive: true });
      symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
    }
    this.write('package.json', { name: 'stranger', private: true, type: 'module' });
    this.write('tsconfig.json', { compilerOptions: COMPILER_OPTIONS, include: ['*.ts'] });
  }

  /** A path inside the installed package. */
  installed(path = ''): string {
    return join(this.directory, 'node_modules', 'rollkeeper', path);
  }

  /** What `npx rollkeeper` runs. */
  get bin(): string {
    return join(this.directory, 'node_modules', '.bin', 'rollkeeper');
  }

  write(name: string, content: string | object): void {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    writeFileSync(join(this.directory, name), text);
  }

  /** Copies an example of the repository, as NAME.ts. */
  copyExample(name: string): void {
    this.write(`${name}.ts`, readFileSync(join(ROOT, 'examples', name, 'main.ts'), 'utf8'));
  }

  /** Compiles every file of the project. @throws with what the compiler says */
  compile(): void {
    const tsc = join(this.directory, 'node_modules', 'typescript', 'bin', 'tsc');
    try {
      execFileSync(process.execPath, [tsc, '-p', '.'], { cwd: this.directory, encoding: 'utf8' });
    } catch (error) {
      throw new Error(`tsc: ${(error as { stdout?: string }).stdout ?? ''}`, { cause: error });
    }
  }

  /** Runs a test of the project, and answers what vitest prints. @throws when it fails */
  vitest(file: string): string {
    const vitest = join(this.directory, 'node_modules', 'vitest', 'vitest.mjs');
    const { VITEST: _vitest, VITEST_WORKER_ID: _worker, VITEST_POOL_ID: _pool, ...env } = process.env;
    const options = { cwd: this.directory, encoding: 'utf8', env, timeout: 150_000, stdio: 'pipe' } as const;
    return execFileSync(
      process.execPath,
      [vitest, 'run', '--root', '.', '--test-timeout=60000', file],
      options,
    );
  }

  /** What a module's text prints on standard output, as JSON. */
  evaluate<T>(module: string): T {
    const args = ['--input-type=module', '--eval', module];
    const options = { cwd: this.directory, encoding: 'utf8', maxBuffer: 1e8, timeout: 120_000 } as const;
    return JSON.parse(execFileSync(process.execPath, args, options)) as T;
  }

  /** Starts a compiled file. */
  start(name: string, env: NodeJS.ProcessEnv): StartedProgram {
    const file = join(this.directory, 'out', `${name}.js`);
    if (!existsSync(file)) throw new Error(`${name} is not compiled`);
    return new StartedProgram(
      spawn(process.execPath, [file], {
        cwd: this.directory,
        env: { ...process.env, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    );
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

export class StartedProgram {
  output = '';
  private readonly exited: Promise<void>;

  constructor(private readonly child: ChildProcess) {
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    this.exited = new Promise((resolve) => child.once('exit', () => resolve()));
  }

  get exitCode(): number | null {
    return this.child.exitCode;
  }

  /** Ends it, by SIGTERM as a person would or by SIGKILL as fate does, and waits until it has gone. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill(signal);
    await this.exited;
  }
}
