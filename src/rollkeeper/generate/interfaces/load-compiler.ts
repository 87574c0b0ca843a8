import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as TypeScript from 'typescript';
import { InvalidOptionError, errorCode } from '@rollkeeper/machinery/errors';

/** The API of TypeScript's compiler, which TypeScript 7 does not have. */
export type Compiler = typeof TypeScript;

/** The packages that may have that API. The second is TypeScript 6 beside a newer one. */
const PACKAGES = ['typescript', '@typescript/typescript6'];

/**
 * The compiler that a module's project has installed, or we.
 * @param module the module's path
 * @param ours from where ours is found
 * @throws InvalidOptionError saying what to install
 */
export function loadCompiler(module: string, ours = import.meta.url): Compiler {
  const versions: string[] = [];
  for (const place of [pathToFileURL(resolve(module)).href, ours])
    for (const name of PACKAGES) {
      const found = loaded(name, place);
      if (found && isCompiler(found)) return found;
      if (found?.version !== undefined) versions.push(`${name} ${found.version}`);
    }
  const [version] = versions;
  throw new InvalidOptionError(
    'module',
    `${module}: a definition of an interface needs the API of TypeScript's compiler; ` +
      (version === undefined
        ? 'npm install --save-dev typescript'
        : `${version} has none, so npm install --save-dev @typescript/typescript6`),
  );
}

/** Its first function represents all: a package has the API or has not. */
function isCompiler(found: Partial<Compiler>): found is Compiler {
  return typeof found.createProgram === 'function';
}

function loaded(name: string, place: string): Partial<Compiler> | undefined {
  try {
    return createRequire(place)(name) as Partial<Compiler>;
  } catch (error) {
    if (errorCode(error) === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}
