// A step of the build: in each module that names a Lua file, the text of the file takes the place of its name, with what it
// includes. So the package works wherever a bundler puts its code, and starts without reading a file for each script.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { BUILT, ROOT } from './lib/workspaces.mjs';

const lua = join(BUILT.get('redis'), 'connection', 'lua-script.js');
const { LuaScript } = await import(pathToFileURL(lua).href);

const NAMED = /new LuaScript\(new URL\('(\.\/lua\/[a-z0-9-]+\.lua)', import\.meta\.url\)/g;
/** Any other way to name such a file would be read at run time, and not be found. */
const MISSED = /^(?!\s*(?:\/\/|\*)).*\.lua\b.*import\.meta\.url/m;

/** Counts the scripts that this run or an earlier one has put in. */
let inlined = 0;
for (const [name, folder] of BUILT)
  for (const path of readdirSync(folder, { recursive: true }))
    if (path.endsWith('.js')) inlined += inline(join(folder, path), join(ROOT, 'src', name, path));
if (inlined === 0) throw new Error('no module names a Lua file');

/** @returns how many texts the module has now */
function inline(module, source) {
  const code = readFileSync(module, 'utf8');
  const result = code.replace(NAMED, (_call, file) => {
    const script = new LuaScript(new URL(file, pathToFileURL(source)));
    const { name, numberOfKeys, source: text } = script;
    return `new LuaScript(${JSON.stringify({ source: text, name, numberOfKeys })}`;
  });
  if (MISSED.test(result))
    throw new Error(`${relative(ROOT, module)} names a Lua file in a way that is not inlined`);
  if (result !== code) writeFileSync(module, result);
  return result.split('new LuaScript({"source":').length - 1;
}
