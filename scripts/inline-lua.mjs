// A step of the build: in each module of `dist` that names a Lua file, the text of the file takes the place of its name, with what it
// includes. So the package works wherever a bundler puts its code, and starts without reading a file for each script.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const [SRC, DIST] = [join(ROOT, 'src'), join(ROOT, 'dist')];
const { LuaScript } = await import(pathToFileURL(join(DIST, 'base', 'redis', 'lua-script.js')).href);

const NAMED = /new LuaScript\(new URL\('(\.\/lua\/[a-z0-9-]+\.lua)', import\.meta\.url\)/g;
/** Any other way to name such a file would be read at run time, and not be found. */
const MISSED = /^(?!\s*(?:\/\/|\*)).*\.lua\b.*import\.meta\.url/m;

/** Of this run or of an earlier one. */
let inlined = 0;
for (const name of readdirSync(DIST, { recursive: true })) {
  if (!name.endsWith('.js') || name.startsWith('bundle')) continue;
  const module = join(DIST, name);
  const code = readFileSync(module, 'utf8');
  const result = code.replace(NAMED, (_call, file) => {
    const { numberOfKeys, source } = new LuaScript(new URL(file, pathToFileURL(join(SRC, name))));
    return `new LuaScript(${JSON.stringify({ source, numberOfKeys })}`;
  });
  if (MISSED.test(result))
    throw new Error(`${relative(ROOT, module)} names a Lua file in a way that is not inlined`);
  inlined += result.split('new LuaScript({"source":').length - 1;
  if (result !== code) writeFileSync(module, result);
}
if (inlined === 0) throw new Error('no module of dist names a Lua file');
