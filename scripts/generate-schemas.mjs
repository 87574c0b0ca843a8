/**
 * Writes src/api-server/schema/generated/schemas.json: the shape (properties, types, formats, required fields) of the
 * API types that the embedded API server has, read from the type definitions of the dev dependency
 * `kubernetes-models`. Descriptions are not taken over.
 *
 * Run after an update of `kubernetes-models`: `node scripts/generate-schemas.mjs`
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('..', import.meta.url));
const output = path.join(root, 'src/api-server/schema/generated/schemas.json');
const modules = path.join(root, 'node_modules');
const models = path.join(modules, 'kubernetes-models');
const machinery = path.join(modules, '@kubernetes-models/apimachinery');

const startingPoints = [
  ...['Namespace', 'Node', 'Pod', 'Event', 'ServiceAccount'].flatMap((kind) => [
    `v1/${kind}`,
    `v1/${kind}List`,
  ]),
  'v1/Binding',
  ...['Deployment', 'ReplicaSet'].flatMap((kind) => [`apps/v1/${kind}`, `apps/v1/${kind}List`]),
  'coordination.k8s.io/v1/Lease',
  'coordination.k8s.io/v1/LeaseList',
  'autoscaling/v1/Scale',
  'policy/v1/Eviction',
  ...['TokenReview', 'SelfSubjectReview'].map((kind) => `authentication.k8s.io/v1/${kind}`),
  ...[
    'SubjectAccessReview',
    'LocalSubjectAccessReview',
    'SelfSubjectAccessReview',
    'SelfSubjectRulesReview',
  ].map((kind) => `authorization.k8s.io/v1/${kind}`),
].map((name) => path.join(models, `${name}.d.ts`));
const metaStartingPoints = ['DeleteOptions', 'Status', 'ObjectMeta', 'ListMeta', 'LabelSelector'].map(
  (name) => path.join(machinery, `apis/meta/v1/${name}.d.ts`),
);

/** Types that are not structs in the Go sources: they decode themselves. */
const scalars = new Map([
  ['io.k8s.apimachinery.pkg.api.resource.Quantity', { type: 'string', format: 'quantity' }],
  ['io.k8s.apimachinery.pkg.util.intstr.IntOrString', { type: 'string', format: 'int-or-string' }],
  ['io.k8s.apimachinery.pkg.apis.meta.v1.Time', { type: 'string', format: 'date-time' }],
  ['io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime', { type: 'string', format: 'date-time' }],
  ['io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1', { type: 'any' }],
  ['io.k8s.apimachinery.pkg.runtime.RawExtension', { type: 'any' }],
]);

/** `…/kubernetes-models/apps/v1/DeploymentSpec.d.ts` → `io.k8s.api.apps.v1.DeploymentSpec`. */
function schemaNameOf(file) {
  const isMachinery = file.startsWith(machinery);
  const parts = path
    .relative(isMachinery ? machinery : models, file)
    .replace(/\.d\.ts$/, '')
    .split(path.sep);
  if (isMachinery) return ['io.k8s.apimachinery.pkg', ...parts].join('.');
  const [group, ...rest] = parts.length === 2 ? ['core', ...parts] : parts;
  return ['io.k8s.api', group.replace(/\.k8s\.io$/, ''), ...rest].join('.');
}

function fileOfImport(specifier, from) {
  if (specifier.startsWith('.'))
    return path.resolve(path.dirname(from), specifier.replace(/\.js$/, '')) + '.d.ts';
  const prefix = '@kubernetes-models/apimachinery/';
  return specifier.startsWith(prefix)
    ? path.join(machinery, `${specifier.slice(prefix.length)}.d.ts`)
    : undefined;
}

function importsOf(source, file) {
  const files = new Map();
  for (const statement of source.statements) {
    if (!ts.isImportDeclaration(statement)) continue;
    const target = fileOfImport(statement.moduleSpecifier.text, file);
    for (const element of statement.importClause?.namedBindings?.elements ?? []) {
      if (target) files.set(element.name.text, target);
    }
  }
  return files;
}

/** The checker that the package ships beside a type; it knows int32 from int64, which TypeScript does not. */
async function checkerOf(file) {
  const schema = schemaNameOf(file);
  const name = schema
    .split('.')
    .map((part) => part[0].toUpperCase() + part.slice(1))
    .join('');
  const base = file.startsWith(machinery) ? machinery : models;
  const module = await import(pathToFileURL(path.join(base, '_schemas', `${name}.js`)).href);
  return module.validate;
}

function numberType(check, property) {
  const problems = (value) => {
    check({ [property]: value });
    return (check.errors ?? []).filter((error) => error.instancePath.startsWith(`/${property}`));
  };
  if (!problems(1.5).some((error) => error.params.type === 'integer')) return { type: 'number' };
  const format = problems(2 ** 31).some((error) => error.keyword === 'format') ? 'int32' : 'int64';
  return { type: 'integer', format };
}

async function convert(node, context) {
  if (ts.isParenthesizedTypeNode(node)) return convert(node.type, context);
  switch (node.kind) {
    case ts.SyntaxKind.StringKeyword:
    case ts.SyntaxKind.LiteralType:
      return { type: 'string' };
    case ts.SyntaxKind.BooleanKeyword:
      return { type: 'boolean' };
    case ts.SyntaxKind.NumberKeyword:
      return numberType(context.check, context.property);
  }
  if (ts.isArrayTypeNode(node)) return { type: 'array', items: await convert(node.elementType, context) };
  if (ts.isUnionTypeNode(node) && node.types.every((type) => ts.isLiteralTypeNode(type)))
    return { type: 'string' };
  if (ts.isTypeLiteralNode(node)) return convertMap(node, context);
  if (ts.isTypeReferenceNode(node)) return convertReference(node, context);
  throw new Error(`${context.file}: ${context.property}: cannot read the type ${node.getText()}`);
}

async function convertMap(node, context) {
  const [signature] = node.members;
  if (!signature || !ts.isIndexSignatureDeclaration(signature)) return { type: 'any' };
  return { type: 'map', items: await convert(signature.type, context) };
}

async function convertReference(node, context) {
  const name = node.typeName.getText();
  if (name === 'Array') return { type: 'array', items: await convert(node.typeArguments[0], context) };
  const target = context.imports.get(name) ?? (name.startsWith('I') ? context.file : undefined);
  if (!target) throw new Error(`${context.file}: unknown type ${name}`);
  context.found.add(target);
  return { type: 'ref', ref: schemaNameOf(target) };
}

async function readType(file, found) {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const shape = source.statements.find((statement) => ts.isInterfaceDeclaration(statement));
  if (!shape) throw new Error(`${file}: no interface`);
  const schema = { type: 'object', properties: {}, required: [] };
  const check = await checkerOf(file);
  for (const member of shape.members) {
    const property = member.name.text;
    const context = { file, property, check, imports: importsOf(source, file), found };
    schema.properties[property] = await convert(member.type, context);
    // The API itself reads them from the path, and its OpenAPI does not ask for them.
    const isTypeMeta = (property === 'apiVersion' || property === 'kind') && !file.endsWith('Reference.d.ts');
    if (!member.questionToken && !isTypeMeta) schema.required.push(property);
  }
  if (schema.required.length === 0) delete schema.required;
  return schema;
}

const schemas = {};
const queue = new Set([...startingPoints, ...metaStartingPoints]);
for (const file of queue) {
  const name = schemaNameOf(file);
  schemas[name] = scalars.get(name) ?? (await readType(file, queue));
}
const sorted = Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(output, `${JSON.stringify(sorted)}\n`);
console.log(`${Object.keys(sorted).length} schemas in ${path.relative(root, output)}`);
