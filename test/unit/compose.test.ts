import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createProgram } from '../../src/app/cli/program.js';
import { replicaOptionsOf } from '../../src/app/cli/controller.command.js';
import { compileReplicaOptions } from '../../src/app/replica/replica.options.js';

interface Service {
  readonly build?: string;
  readonly command?: string | readonly string[];
}

const { services } = parse(
  readFileSync(join(import.meta.dirname, '..', '..', 'docker-compose.yml'), 'utf8'),
  { merge: true },
) as { services: Readonly<Record<string, Service>> };
const own = Object.entries(services).filter(([, { build }]) => build !== undefined);

/** The flags of a service's command. @throws for what the program does not know */
function flagsOf({ command = '' }: Service): Record<string, string> {
  const [name = '', ...args] = typeof command === 'string' ? command.split(/\s+/) : command;
  const parser = createProgram('main.js').commands.find((each) => each.name() === name);
  if (!parser) throw new Error(`there is no command ${name}`);
  const { operands, unknown } = parser.parseOptions(args);
  if (operands.length + unknown.length > 0)
    throw new Error(`not understood: ${[...operands, ...unknown].join(' ')}`);
  return parser.opts<Record<string, string>>();
}

describe('docker-compose.yml', () => {
  it.each(own)('starts %s with flags that the program knows', (_name, service) => {
    expect(flagsOf(service)).toHaveProperty('kubeconfig', '/data/kubeconfig');
  });

  it('gives its replicas one token to ask each other with', () => {
    const controller = services['controller'];
    if (!controller) throw new Error('there is no controller');
    const options = compileReplicaOptions(replicaOptionsOf(flagsOf(controller), {}));
    // The file that the API server makes in the volume that they share.
    expect(options['admin-token-file']).toBe('/data/token');
    expect(flagsOf(services['apiserver'] ?? {})).toMatchObject({ dataDir: '/data' });
  });
});
