// Reads the shapes and descriptions of API types from the type definitions of `kubernetes-models`.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';
import { MORE_DESCRIPTIONS } from './more-descriptions.mjs';

/** Types that are not structs in the Go sources: they decode themselves. */
const SCALARS = new Map([
  ['io.k8s.apimachinery.pkg.api.resource.Quantity', { type: 'string', format: 'quantity' }],
  ['io.k8s.apimachinery.pkg.util.intstr.IntOrString', { type: 'string', format: 'int-or-string' }],
  ['io.k8s.apimachinery.pkg.apis.meta.v1.Time', { type: 'string', format: 'date-time' }],
  ['io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime', { type: 'string', format: 'date-time' }],
  ['io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1', { type: 'any' }],
  ['io.k8s.apimachinery.pkg.runtime.RawExtension', { type: 'any' }],
]);

const EXTENSIONS = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions';
const SCHEMA = { type: 'ref', ref: `${EXTENSIONS}.v1.JSONSchemaProps` };
const STRING = { type: 'string' };
for (const [name, schema] of [
  ['JSON', { type: 'any' }],
  ['JSONSchemaPropsOrArray', { type: 'union', anyOf: [SCHEMA, { type: 'array', items: SCHEMA }] }],
  ['JSONSchemaPropsOrBool', { type: 'union', anyOf: [SCHEMA, { type: 'boolean' }] }],
  ['JSONSchemaPropsOrStringArray', { type: 'union', anyOf: [SCHEMA, { type: 'array', items: STRING }] }],
])
  SCALARS.set(`${EXTENSIONS}.v1.${name}`, schema);

/** Groups whose types live in other packages than `k8s.io/api`. */
const OTHER_PACKAGES = new Map([
  ['apiextensions.k8s.io', EXTENSIONS],
  ['apiregistration.k8s.io', 'io.k8s.kube-aggregator.pkg.apis.apiregistration'],
]);

export class TypeDefinitions {
  constructor(modules) {
    this.models = path.join(modules, 'kubernetes-models');
    this.machinery = path.join(modules, '@kubernetes-models/apimachinery');
  }

  /** The file of a type: `fileOf('apps/v1/Deployment')`, `fileOf('meta/v1/Status')`. */
  fileOf(name) {
    const file = name.startsWith('meta/')
      ? path.join(this.machinery, 'apis', `${name}.d.ts`)
      : path.join(this.models, `${name}.d.ts`);
    if (!existsSync(file)) throw new Error(`no type is named ${name}`);
    return file;
  }

  /** The kinds of a group and version: every type that has a list is one. */
  kindsOf(groupVersion) {
    return readdirSync(path.join(this.models, groupVersion))
      .filter((file) => file.endsWith('List.d.ts'))
      .map((file) => file.slice(0, -'List.d.ts'.length))
      .sort();
  }

  /** `…/kubernetes-models/apps/v1/DeploymentSpec.d.ts` → `io.k8s.api.apps.v1.DeploymentSpec`. */
  schemaNameOf(file) {
    const isMachinery = file.startsWith(this.machinery);
    const parts = path
      .relative(isMachinery ? this.machinery : this.models, file)
      .replace(/\.d\.ts$/, '')
      .split(path.sep);
    if (isMachinery) return ['io.k8s.apimachinery.pkg', ...parts].join('.');
    const [group, ...rest] = parts.length === 2 ? ['core', ...parts] : parts;
    const other = OTHER_PACKAGES.get(group);
    if (other) return [other, ...rest].join('.');
    return ['io.k8s.api', group.split('.')[0], ...rest].join('.');
  }

  /**
   * The type in a file; the files of the types that it names are added to `found`.
   * @returns `{ schema, descriptions }`; the description of the type itself has the key ''
   */
  async read(file, found) {
    const scalar = SCALARS.get(this.schemaNameOf(file));
    if (scalar?.type === 'union') found.add(this.fileOf('apiextensions.k8s.io/v1/JSONSchemaProps'));
    const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
    const shape = source.statements.find((statement) => ts.isInterfaceDeclaration(statement));
    const descriptions = {};
    const described = (key, node) => {
      const text = ts.getTextOfJSDocComment(node?.jsDoc?.at(-1)?.comment);
      // Characters that would end the comment are escaped there.
      if (text) descriptions[key] = text.replaceAll('\\*', '*').replaceAll('*\\/', '*/');
    };
    const more = MORE_DESCRIPTIONS[this.schemaNameOf(file)];
    if (more) descriptions[''] = more;
    described('', shape ?? source.statements.find((statement) => ts.isTypeAliasDeclaration(statement)));
    if (scalar) return { schema: scalar, descriptions };
    if (!shape) throw new Error(`${file}: no interface`);
    const schema = { type: 'object', properties: {}, required: [] };
    const check = await this.checkerOf(file);
    for (const member of shape.members) {
      const property = member.name.text;
      described(property, member);
      const context = { file, property, check, imports: this.importsOf(source, file), found };
      schema.properties[property] = await this.convert(member.type, context);
      // The API itself reads them from the path, and its OpenAPI does not ask for them.
      const isTypeMeta =
        (property === 'apiVersion' || property === 'kind') && !file.endsWith('Reference.d.ts');
      if (!member.questionToken && !isTypeMeta) schema.required.push(property);
    }
    if (schema.required.length === 0) delete schema.required;
    return { schema, descriptions };
  }

  /** Types that are written out where they are used, because their kind may be left out there. */
  nameInline({ property, file, found }) {
    if (property !== 'volumeClaimTemplates') throw new Error(`${file}: ${property} is a type without a name`);
    const target = this.fileOf('v1/PersistentVolumeClaim');
    found.add(target);
    return { type: 'ref', ref: this.schemaNameOf(target) };
  }

  fileOfImport(specifier, from) {
    if (specifier.startsWith('.'))
      return `${path.resolve(path.dirname(from), specifier.replace(/\.js$/, ''))}.d.ts`;
    const prefix = '@kubernetes-models/apimachinery/';
    return specifier.startsWith(prefix)
      ? path.join(this.machinery, `${specifier.slice(prefix.length)}.d.ts`)
      : undefined;
  }

  importsOf(source, file) {
    const files = new Map();
    for (const statement of source.statements) {
      if (!ts.isImportDeclaration(statement)) continue;
      const target = this.fileOfImport(statement.moduleSpecifier.text, file);
      for (const element of statement.importClause?.namedBindings?.elements ?? []) {
        if (target) files.set(element.name.text, target);
      }
    }
    return files;
  }

  /** The checker that the package ships beside a type; it knows formats, which TypeScript does not. */
  async checkerOf(file) {
    const name = this.schemaNameOf(file)
      .split(/[.-]/)
      .map((part) => part[0].toUpperCase() + part.slice(1))
      .join('');
    const base = file.startsWith(this.machinery) ? this.machinery : this.models;
    const module = await import(pathToFileURL(path.join(base, '_schemas', `${name}.js`)).href);
    return module.validate;
  }

  async convert(node, context) {
    if (ts.isParenthesizedTypeNode(node)) return this.convert(node.type, context);
    switch (node.kind) {
      case ts.SyntaxKind.StringKeyword:
        return stringType(context);
      case ts.SyntaxKind.LiteralType:
        return { type: 'string' };
      case ts.SyntaxKind.BooleanKeyword:
        return { type: 'boolean' };
      case ts.SyntaxKind.NumberKeyword:
        return numberType(context);
    }
    const deeper = (wrap) => ({ ...context, wrap: (value) => (context.wrap ?? ((x) => x))(wrap(value)) });
    if (ts.isArrayTypeNode(node))
      return {
        type: 'array',
        items: await this.convert(
          node.elementType,
          deeper((value) => [value]),
        ),
      };
    if (ts.isUnionTypeNode(node) && node.types.every((type) => ts.isLiteralTypeNode(type)))
      return { type: 'string', enum: node.types.map((type) => type.literal.text) };
    if (ts.isTypeLiteralNode(node)) {
      const [signature] = node.members;
      if (signature && !ts.isIndexSignatureDeclaration(signature)) return this.nameInline(context);
      if (!signature) return { type: 'any' };
      return {
        type: 'map',
        items: await this.convert(
          signature.type,
          deeper((value) => ({ a: value })),
        ),
      };
    }
    if (!ts.isTypeReferenceNode(node))
      throw new Error(`${context.file}: ${context.property}: cannot read the type ${node.getText()}`);
    const name = node.typeName.getText();
    if (name === 'Array')
      return {
        type: 'array',
        items: await this.convert(
          node.typeArguments[0],
          deeper((value) => [value]),
        ),
      };
    const target = context.imports.get(name) ?? (name.startsWith('I') ? context.file : undefined);
    if (!target) throw new Error(`${context.file}: unknown type ${name}`);
    context.found.add(target);
    return { type: 'ref', ref: this.schemaNameOf(target) };
  }
}

/** The problems that the checker finds with a value in this place. */
function problems(value, { check, property, wrap }) {
  check({ [property]: wrap ? wrap(value) : value });
  return (check.errors ?? []).filter((error) => error.instancePath.startsWith(`/${property}`));
}

function stringType(context) {
  const isByte = problems('!', context).some((error) => error.params.format === 'byte');
  return isByte ? { type: 'string', format: 'byte' } : { type: 'string' };
}

function numberType(context) {
  if (!problems(1.5, context).some((error) => error.params.type === 'integer')) return { type: 'number' };
  const isShort = problems(2 ** 31, context).some((error) => error.keyword === 'format');
  return { type: 'integer', format: isShort ? 'int32' : 'int64' };
}
