import type { Command } from 'commander';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import { runOnce, escapedText } from '@rollkeeper/machinery/process';
import { isJsonObject } from '@rollkeeper/machinery/kubernetes';
import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import type { ServedDefinition } from '../generate/index.js';
import type { ApiFlags } from './shared-options.js';
import { addApiOptions, readNamed } from './shared-options.js';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

interface OutputFlags {
  readonly output?: string;
}

interface CrdFlags extends OutputFlags {
  readonly storage?: readonly string[];
}

interface RbacFlags extends OutputFlags {
  readonly name: string;
  readonly namespace: string;
  readonly watchNamespaces?: string;
  readonly lease: boolean;
  readonly redis?: boolean;
  readonly webhooks?: string;
}

interface OperatorFlags {
  readonly kind?: string;
  readonly group: string;
  readonly webhook?: boolean;
  readonly directory?: string;
  readonly packages?: string;
}

interface TypesFlags extends OutputFlags, ApiFlags {
  readonly fromCluster?: boolean;
}

const MODULES = 'modules of the operator, .js or .ts; their exports are read, no controller runs';

/** `rollkeeper generate`: a new operator, and what it needs beside its code, made from that. */
export function registerGenerateCommand(program: Command): void {
  const generate = program
    .command('generate')
    .description('generate an operator with the kit, its definitions, roles and types (docs/KIT.md)');
  withOutput(generate.command('crd'))
    .description(
      'CustomResourceDefinitions of the kinds made by defineCustomKind, or of an interface with the tag @crd',
    )
    .argument('<module...>', MODULES)
    .option('--storage <kind.group=version...>', 'the stored version (default: the newest)')
    .action((paths: string[], flags: CrdFlags) => runOnce(() => generateCrd(paths, flags)));
  withOutput(generate.command('rbac'))
    .description('a service account, roles and bindings for what the controllers watch and write')
    .argument('<module...>', MODULES)
    .requiredOption('--name <name>', 'name of the operator')
    .option('--namespace <name>', 'its namespace', 'default')
    .option('--watch-namespaces <list>', 'watch only these, with Roles (default: all, with a ClusterRole)')
    .option('--no-lease', 'no rights on a Lease, because the replicas share a Redis')
    .option('--redis', 'the replicas share a Redis, and the lease is in the API')
    .option(
      '--webhooks <how>',
      'add the rights of its webhookServer, with configurations "apply" or "patch" (default: no webhooks)',
    )
    .action((paths: string[], flags: RbacFlags) => runOnce(() => generateRbac(paths, flags)));
  addApiOptions(withOutput(generate.command('types')))
    .description('types and kinds in TypeScript, from CustomResourceDefinitions')
    .argument('[file...]', 'YAML or JSON files with definitions')
    .option('--from-cluster', 'use all installed definitions')
    .action((files: string[], flags: TypesFlags) => runOnce(() => generateTypes(files, flags)));
  generate
    .command('operator')
    .description('a project for a new operator: kind, controller, tests, image, chart and workflow')
    .argument('<name>', 'name of the operator: website-operator')
    .option('--kind <kind>', 'kind that it reconciles (default: the name without -operator)')
    .option('--group <group>', 'API group', 'example.com')
    .option('--webhook', 'add a webhook that defaults and validates objects of the kind')
    .option('--directory <folder>', 'folder to write to, new or empty (default: the name)')
    .option(
      '--packages <folder>',
      'folder of npm pack files to copy our packages from (default: the npm registry)',
    )
    .action((name: string, flags: OperatorFlags) => runOnce(() => generateOperator(name, flags)));
}

function withOutput(command: Command): Command {
  return command.option('-o, --output <file>', 'output file (default: standard output)');
}

async function generateCrd(paths: readonly string[], { output, storage = [] }: CrdFlags): Promise<void> {
  const { assertAccepted, definitionsIn, interfaceKinds, modulesOf } = await import('../generate/index.js');
  const stored = new Map(
    storage.map((entry) => {
      const [name = '', version = ''] = entry.split('=');
      if (!name.includes('.') || version === '')
        throw new InvalidOptionError('storage', `"${entry}" is not KIND.GROUP=VERSION`);
      return [name, version] as const;
    }),
  );
  const modules = await modulesOf(paths);
  const ofInterfaces = modules.flatMap((module, index) => interfaceKinds(paths[index] ?? '', module));
  const definitions = definitionsIn([...modules, { ofInterfaces }], stored);
  await assertAccepted(definitions);
  await writeYaml(definitions, output);
}

async function generateRbac(paths: readonly string[], flags: RbacFlags): Promise<void> {
  const { convertedIn, modulesOf, rightsIn, rolesOf } = await import('../generate/index.js');
  const { lease: hasLease, name, namespace, output, redis = false, watchNamespaces = '', webhooks } = flags;
  const namespaces = watchNamespaces.split(',').filter((each) => each !== '');
  const modules = await modulesOf(paths);
  const options = {
    ...{ name, namespace, namespaces, hasLease, onRedis: redis || !hasLease },
    webhooks: webhooks === undefined ? undefined : applyOrPatch(webhooks),
    converted: convertedIn(modules),
  };
  await writeYaml(rolesOf(rightsIn(modules), options), output);
}

function applyOrPatch(how: string): 'apply' | 'patch' {
  if (how === 'apply' || how === 'patch') return how;
  throw new InvalidOptionError('webhooks', `"${how}" is neither apply nor patch`);
}

async function generateOperator(name: string, flags: OperatorFlags): Promise<void> {
  const { writeOperator } = await import('../generate/index.js');
  const { directory = name, group, kind, packages, webhook: hasWebhook = false } = flags;
  const files = await writeOperator({ name, kind, group, directory, hasWebhook, packages });
  process.stdout.write(
    `${files.join('\n')}\n\ncd ${directory} && npm install && npm run generate && npm run typecheck && npm test\n`,
  );
}

async function generateTypes(files: readonly string[], flags: TypesFlags): Promise<void> {
  const { typesOf } = await import('../generate/index.js');
  if (files.length > 0 === (flags.fromCluster === true))
    throw new InvalidOptionError('file', 'name files with definitions, or use --from-cluster');
  const definitions = flags.fromCluster ? await definitionsOfCluster(flags) : await definitionsOfFiles(files);
  if (definitions.length === 0) throw new InvalidOptionError('file', 'no CustomResourceDefinition found');
  await writeOutput(typesOf(definitions), flags.output);
}

async function definitionsOfFiles(files: readonly string[]): Promise<ServedDefinition[]> {
  const { parseAllDocuments } = await import('yaml');
  const documents: unknown[] = [];
  for (const file of files) {
    for (const document of parseAllDocuments(await readNamed('file', file))) {
      const [error] = document.errors;
      if (error) throw new InvalidOptionError('file', `${file}: ${error.message}`);
      documents.push(document.toJS());
    }
  }
  return documents.filter(isDefinition);
}

function isDefinition(document: unknown): document is ServedDefinition {
  return isJsonObject(document) && document['kind'] === 'CustomResourceDefinition';
}

async function definitionsOfCluster(flags: ApiFlags): Promise<readonly ServedDefinition[]> {
  const { withApi } = await import('./with-api.js');
  const { CustomResourceDefinition, untyped } = await import('@rollkeeper/runtime');
  return withApi(flags, async (client) => {
    const { items } = await client.list<KubernetesObject & ServedDefinition>(
      untyped(CustomResourceDefinition),
    );
    return items;
  });
}

async function writeYaml(objects: readonly object[], output: string | undefined): Promise<void> {
  const { stringify } = await import('yaml');
  // Without aliases, which kubectl takes and people do not read.
  const documents = objects.map((object) => stringify(object, { aliasDuplicateObjects: false }));
  await writeOutput(documents.join('---\n'), output);
}

/**
 * Writes to a file, whose folders are made if they are missing.
 * @param output path of the file; undefined: standard output, with control characters escaped
 */
export async function writeOutput(text: string, output: string | undefined): Promise<void> {
  if (output === undefined) return void process.stdout.write(escapedText(text));
  await mkdir(dirname(output), { recursive: true });
  await writeFile(output, text);
}
