import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..', '..');

interface PackageJson {
  readonly name: string;
  readonly bin?: string | Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** The packages that a stranger has beside the packages themselves. */
const OWN_PACKAGES = ['typescript', '@types/node', 'vitest', 'esbuild'];

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
 * An empty project into which the packed packages are installed, outside of the repository. Without a network: their dependencies
 * are the repository's, but only those that a package.json of them names can be found.
 */
export class PackedProject {
  readonly directory = realpathSync(mkdtempSync(join(tmpdir(), 'rollkeeper-project-')));

  constructor() {
    const modules = join(this.directory, 'node_modules');
    mkdirSync(join(modules, '.bin'), { recursive: true });
    const needed = new Set(OWN_PACKAGES);
    for (const archive of this.packInto(this.directory)) {
      const { dependencies, peerDependencies = {} } = this.unpack(archive, modules);
      for (const each of [...Object.keys(dependencies), ...Object.keys(peerDependencies)])
        if (!each.startsWith('@rollkeeper/')) needed.add(each);
    }
    for (const name of needed) {
      // The repository has one of two peers if a package needs either.
      if (!existsSync(join(ROOT, 'node_modules', name))) continue;
      mkdirSync(dirname(join(modules, name)), { recursive: true });
      symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
    }
    for (const name of ['rollkeeper', ...OWN_PACKAGES]) this.linkPrograms(name);
    this.write('package.json', { name: 'stranger', private: true, type: 'module' });
    this.write('tsconfig.json', { compilerOptions: COMPILER_OPTIONS, include: ['*.ts'] });
  }

  /** The product and the packages that it is made of, as files in a folder. */
  packInto(folder: string): string[] {
    const all = ['--workspaces', '--include-workspace-root'];
    const args = ['pack', '--json', '--ignore-scripts', ...all, '--pack-destination', folder];
    const packed = execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8', stdio: 'pipe', maxBuffer: 1e8 });
    return (JSON.parse(packed) as { filename: string }[]).map(({ filename }) =>
      join(folder, filename.replace(/^@/, '').replace('/', '-')),
    );
  }

  private unpack(archive: string, modules: string): PackageJson {
    execFileSync('tar', ['-xzf', archive, '-C', modules]);
    const unpacked = join(modules, 'package');
    const manifest = JSON.parse(readFileSync(join(unpacked, 'package.json'), 'utf8')) as PackageJson;
    mkdirSync(dirname(join(modules, manifest.name)), { recursive: true });
    renameSync(unpacked, join(modules, manifest.name));
    return manifest;
  }

  /** Links the programs of a package that `npx` finds. */
  private linkPrograms(name: string): void {
    const folder = join(this.directory, 'node_modules', name);
    const { bin = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as PackageJson;
    for (const [program, path] of Object.entries(typeof bin === 'string' ? { [name]: bin } : bin))
      symlinkSync(join(folder, path), join(this.directory, 'node_modules', '.bin', program));
  }

  /** A package that the repository does not have, from the registry: with its dependencies, in a folder of its own. */
  install(name: string, version: string): void {
    const home = join(this.directory, 'installed', name);
    mkdirSync(home, { recursive: true });
    const args = ['install', '--prefix', home, '--no-audit', '--no-fund', `${name}@${version}`];
    execFileSync('npm', args, { cwd: home, stdio: 'pipe' });
    symlinkSync(join(home, 'node_modules', name), join(this.directory, 'node_modules', name));
    this.linkPrograms(name);
  }

  /** A path inside the installed package. */
  installed(path = ''): string {
    return join(this.directory, 'node_modules', 'rollkeeper', path);
  }

  /** The program that `npx rollkeeper` runs. */
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

  /** Does something while a package is not installed. */
  without<T>(name: string, work: () => T): T {
    const putBack = this.putAside(name);
    try {
      return work();
    } finally {
      putBack();
    }
  }

  /** A package is not installed, until the function is called that this gives back. */
  putAside(name: string): () => void {
    const [installed, aside] = [join(this.directory, 'node_modules', name), join(this.directory, 'aside')];
    renameSync(installed, aside);
    return () => renameSync(aside, installed);
  }

  /** Runs a module's text, and parses as JSON what it prints on standard output. */
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
  /** Resolves when it has ended. */
  readonly ended: Promise<void>;

  constructor(private readonly child: ChildProcess) {
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    this.ended = new Promise((resolve) => child.once('close', () => resolve()));
  }

  get exitCode(): number | null {
    return this.child.exitCode;
  }

  /** Ends it, by SIGTERM as a person would or by SIGKILL as fate does, and waits until it has gone. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill(signal);
    await this.ended;
  }
}
