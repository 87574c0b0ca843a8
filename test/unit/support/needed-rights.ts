import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { FakeClock, SeededRandom } from '../../../src/machinery/clock/index.js';
import { silentLogger } from '../../../src/machinery/logging/index.js';
import type { ControllerDefinition } from '../../../src/runtime/controller/index.js';
import { buildController } from '../../../src/runtime/controller/index.js';
import { FakeCluster } from '../../../src/testing/fake-cluster.js';
import { FakeInformers } from '../../../src/testing/fake-informers.js';
import { MemoryEventRecorder } from '../../../src/testing/memory-event-recorder.js';
import * as kubernetes from '../../../src/machinery/kubernetes/index.js';
import { GRPCRoute, HTTPRoute } from '../../../src/controllers/deployment/policies/traffic/routes.js';
import type { ResourceType } from '../../../src/machinery/kubernetes/index.js';
import type { PolicyRule } from './chart.js';

export const SRC = join(import.meta.dirname, '..', '..', '..', 'src');

/** One request that the program can make. `*` is any type: the code has it in a variable. */
export interface Right {
  readonly group: string;
  /** With a subresource: `deployments/status`. */
  readonly resource: string;
  readonly verb: string;
}

/** Methods of the client, and the verbs that they need. */
const VERBS = new Map([
  ...['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'].map((verb) => [verb, verb] as const),
  ['deleteCollection', 'deletecollection'],
]);

/**
 * Every right that the calls in the sources below `folder` need: `client.update(DEPLOYMENTS, …, { subresource:
 * 'status' })` needs update on deployments/status, `informerFor(PODS)` list and watch on pods.
 */
export function rightsNeededBy(...folder: string[]): Right[] {
  const rights = sourcesBelow(join(SRC, ...folder)).flatMap(rightsIn);
  return unique(rights);
}

/**
 * The rights of a controller's caches: list and watch of every type for which it asks for an informer while it is
 * made.
 */
export function rightsToWatch(definition: ControllerDefinition): Right[] {
  const cluster = new FakeCluster();
  const informers = new FakeInformers(cluster);
  const asked: ResourceType[] = [];
  const note = (type: ResourceType): void => void asked.push(type);
  buildController(definition, {
    informers: {
      informerFor: (type) => (note(type), informers.informerFor(type)),
      partialInformerFor: (type) => (note(type), informers.partialInformerFor(type)),
      metadataInformerFor: (type) => informers.metadataInformerFor(type),
    },
    discovery: cluster,
    events: new MemoryEventRecorder(),
    clock: new FakeClock(),
    random: new SeededRandom(1),
    logger: silentLogger,
  });
  return unique(
    asked.flatMap(({ group, resource }) => ['list', 'watch'].map((verb) => ({ group, resource, verb }))),
  );
}

export function unique(rights: readonly Right[]): Right[] {
  return [...new Map(rights.map((right) => [textOf(right), right])).values()];
}

export function textOf({ group, resource, verb }: Right): string {
  return `${verb} ${resource}${group && group !== '*' ? `.${group}` : ''}`;
}

/** Whether the rules give a right, on every object of the type. */
export function isGiven(rules: readonly PolicyRule[], { group, resource, verb }: Right): boolean {
  const covers = (list: readonly string[] | undefined, wanted: string): boolean =>
    list !== undefined && (list.includes(wanted) || list.includes('*'));
  return rules.some(
    (rule) =>
      rule.resourceNames === undefined &&
      covers(rule.apiGroups, group) &&
      covers(rule.resources, resource) &&
      covers(rule.verbs, verb),
  );
}

/** Each right that the rules give, those on named objects included. */
export function rightsGivenBy(rules: readonly PolicyRule[]): Right[] {
  return unique(
    rules.flatMap(({ apiGroups = [], resources = [], verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) => verbs.map((verb) => ({ group, resource, verb }))),
      ),
    ),
  );
}

function sourcesBelow(path: string): ts.SourceFile[] {
  const files = path.endsWith('.ts')
    ? [path]
    : readdirSync(path, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts') && !name.endsWith('.spec.ts'))
        .map((name) => join(path, name));
  return files.map((file) =>
    ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true),
  );
}

function rightsIn(source: ts.SourceFile): Right[] {
  const rights: Right[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression))
      rights.push(...rightsOf(node));
    if (ts.isCallExpression(node) && node.expression.getText() === 'listAll')
      rights.push({ ...typeIn(node, 1), verb: 'list' });
    if (ts.isPropertyAssignment(node)) rights.push(...rightsOfClaim(node));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return rights;
}

function rightsOf(call: ts.CallExpression): Right[] {
  const { expression, name } = call.expression as ts.PropertyAccessExpression;
  const isInformer = name.text === 'informerFor' || name.text === 'metadataInformerFor';
  // A map has a `get` and a `delete`, too.
  const verb = /\bclient$/i.test(expression.getText()) ? VERBS.get(name.text) : undefined;
  if (!isInformer && verb === undefined) return [];
  // A controller declares the kinds that it watches: see `rightsToWatch`.
  if (name.text === 'informerFor' && call.getSourceFile().fileName.includes('/controllers/')) return [];
  const type = typeIn(call, 0);
  if (verb === undefined) return ['list', 'watch'].map((each) => ({ ...type, verb: each }));
  const subresource = subresourceIn(call);
  const resource = subresource === undefined ? type.resource : `${type.resource}/${subresource}`;
  return [{ group: type.group, resource, verb }];
}

/**
 * The verbs of `claimChildren` for the kinds that it is given: it looks whether the owner is still there, and patches
 * the children's references.
 */
const CLAIM_VERBS = new Map([
  ['ownerKind', 'get'],
  ['childKind', 'patch'],
]);

function rightsOfClaim({ initializer, name }: ts.PropertyAssignment): Right[] {
  const verb = CLAIM_VERBS.get(name.getText());
  const type = typeOf(initializer);
  return verb !== undefined && type ? [{ ...type, verb }] : [];
}

function typeIn(call: ts.CallExpression, argument: number): Pick<Right, 'group' | 'resource'> {
  const type = typeOf(call.arguments[argument]);
  if (!type) throw new Error(`which type is meant? ${call.getText()}`);
  return type;
}

const KINDS = { ...kubernetes, GRPCRoute, HTTPRoute };

function typeOf(argument: ts.Expression | undefined): Pick<Right, 'group' | 'resource'> | undefined {
  if (!argument) return undefined;
  const text = argument.getText().replace(/^untyped\((.*)\)$/, '$1');
  const known = (KINDS as Readonly<Record<string, unknown>>)[text] as ResourceType | undefined;
  if (known) return { group: known.group, resource: known.resource };
  if (text === 'PodDisruptionBudget') return { group: 'policy', resource: 'poddisruptionbudgets' };
  // The engine of ReplicaSets, which also serves ReplicationControllers: those are not the chart's.
  if (/^(replicated\.)?kind$/.test(text)) return { group: 'apps', resource: 'replicasets' };
  // The chart's values say which API it is.
  if (/^(typeOfDeployment|deploymentTypeOf)\(|^deploymentType$/.test(text))
    return { group: 'apps', resource: 'deployments' };
  return /(^|\.)type$/.test(text) ? { group: '*', resource: '*' } : undefined;
}

function subresourceIn(call: ts.CallExpression): string | undefined {
  const [property] = call.arguments
    .filter(ts.isObjectLiteralExpression)
    .flatMap(({ properties }) => [...properties])
    .filter(ts.isPropertyAssignment)
    .filter(({ name }) => name.getText() === 'subresource');
  return property && ts.isStringLiteral(property.initializer) ? property.initializer.text : undefined;
}
