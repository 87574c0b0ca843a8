import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { createProgram } from '../../src/rollkeeper/cli/program.js';
import { ROOT } from './dockerfile.js';

export interface Service {
  readonly image: string;
  readonly build?: string;
  readonly command?: string | readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly tmpfs?: readonly string[];
  readonly user?: string;
  readonly read_only?: boolean;
  readonly depends_on?: readonly string[] | Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test?: readonly string[]; readonly disable?: boolean };
  readonly deploy?: { readonly replicas: number };
  readonly [field: string]: unknown;
}

export interface ComposeFile {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

export const readYaml = (...path: string[]): unknown =>
  parse(readFileSync(join(ROOT, ...path), 'utf8'), { merge: true });

export const ownComposeFile = (): ComposeFile => readYaml('docker-compose.yml') as ComposeFile;

/** The words of a command, as Compose splits them where nothing is quoted. */
export const wordsOf = (command: Service['command'] = ''): readonly string[] =>
  typeof command === 'string' ? command.trim().split(/\s+/) : command;

/** The flags that our program reads from a command line. @throws Error for an unknown one */
export function flagsOf([name = '', ...args]: readonly string[]): Record<string, string> {
  const parser = createProgram('main.js').commands.find((each) => each.name() === name);
  if (!parser) throw new Error(`there is no command ${name}`);
  const { operands, unknown } = parser.parseOptions([...args]);
  if (operands.length + unknown.length > 0)
    throw new Error(`not understood: ${[...operands, ...unknown].join(' ')}`);
  return parser.opts<Record<string, string>>();
}
