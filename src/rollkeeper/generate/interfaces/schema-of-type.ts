import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type * as TypeScript from 'typescript';
import type { Doc } from './doc-tags.js';
import { mergedKeywords, schemaKeywords } from './doc-tags.js';
import type { Compiler } from './load-compiler.js';

type Schema = Readonly<Record<string, unknown>>;

/** A value of the program: its type, and how that is written, where it is. */
interface Typed {
  readonly type: TypeScript.Type;
  readonly node: TypeScript.TypeNode | undefined;
}

/** Fields of an object, as JSON Schema has them. */
interface ObjectFields {
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required: readonly string[];
}

/**
 * Schemas of types, as JSON Schema says them, with what comments add. What no structural schema can say is left as it is: to make
 * one of it is what refuses that.
 */
export class TypeSchemas {
  /** Types that are being described, outermost first. */
  private readonly open = new Set<TypeScript.Type>();

  private readonly checker: TypeScript.TypeChecker;

  constructor(
    private readonly ts: Compiler,
    private readonly program: TypeScript.Program,
  ) {
    this.checker = program.getTypeChecker();
  }

  /** The fields of an object type. @param passedOver names of fields that are not described */
  fieldsOf(type: TypeScript.Type, at: string, passedOver: readonly string[] = []): ObjectFields {
    const properties: Record<string, Schema> = {};
    const required: string[] = [];
    for (const property of this.checker.getPropertiesOfType(type)) {
      const { name } = property;
      if (passedOver.includes(name)) continue;
      const schema = this.schemaOfProperty(property, at === '' ? name : `${at}.${name}`);
      properties[name] = schema;
      const isOptional = (property.flags & this.ts.SymbolFlags.Optional) !== 0;
      // A field that has a default is always there for readers, and need not be written.
      if (!isOptional && schema['default'] === undefined) required.push(name);
    }
    return { properties, required };
  }

  /** The text alone of a library's declaration: its tags are about its own use. */
  docOf(symbol: TypeScript.Symbol): Doc {
    const { checker, ts } = this;
    const text = ts.displayPartsToString(symbol.getDocumentationComment(checker)).trim();
    const isOurs = symbol.declarations?.some((each) => !each.getSourceFile().isDeclarationFile) ?? false;
    if (!isOurs) return { text, tags: [] };
    return {
      text,
      tags: symbol
        .getJsDocTags(checker)
        .map(({ name, text }) => ({ name, text: ts.displayPartsToString(text).trim() })),
    };
  }

  private schemaOfProperty(property: TypeScript.Symbol, at: string): Schema {
    const declaration = property.valueDeclaration ?? property.declarations?.[0];
    const type = declaration
      ? this.checker.getTypeOfSymbolAtLocation(property, declaration)
      : this.checker.getTypeOfSymbol(property);
    const node =
      declaration && 'type' in declaration
        ? (declaration.type as TypeScript.TypeNode | undefined)
        : undefined;
    const schema = this.schemaOf({ type, node }, at);
    return mergedKeywords(schema, schemaKeywords(this.docOf(property), at));
  }

  private schemaOf({ node, type }: Typed, at: string): Schema {
    const schema = this.plainSchemaOf({ node, type }, at);
    const named = this.namedBy(node);
    return named ? mergedKeywords(schemaKeywords(this.docOf(named), at), schema) : schema;
  }

  /** The interface or alias that a type is written as, if it is one of the author's. */
  private namedBy(node: TypeScript.TypeNode | undefined): TypeScript.Symbol | undefined {
    const { checker, ts } = this;
    if (!node || !ts.isTypeReferenceNode(node)) return undefined;
    const symbol = checker.getSymbolAtLocation(node.typeName);
    const target =
      symbol && (symbol.flags & ts.SymbolFlags.Alias) !== 0 ? checker.getAliasedSymbol(symbol) : symbol;
    const isParameter = target && (target.flags & ts.SymbolFlags.TypeParameter) !== 0;
    return isParameter || this.isOfLibrary(target) ? undefined : target;
  }

  private plainSchemaOf({ node, type }: Typed, at: string): Schema {
    const { ts } = this;
    const { flags } = type;
    const has = (flag: TypeScript.TypeFlags): boolean => (flags & flag) !== 0;
    if (has(ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return {};
    if (has(ts.TypeFlags.Boolean)) return { type: 'boolean' };
    if (type.isUnion()) return this.schemaOfUnion(type, node, at);
    if (has(ts.TypeFlags.BooleanLiteral))
      return { type: 'boolean', enum: [this.checker.typeToString(type) === 'true'] };
    if (type.isStringLiteral() || type.isNumberLiteral()) return { const: type.value };
    if (has(ts.TypeFlags.StringLike)) return { type: 'string' };
    if (has(ts.TypeFlags.NumberLike)) return { type: 'number' };
    if (has(ts.TypeFlags.BigIntLike)) return { type: 'integer' };
    if (has(ts.TypeFlags.Null)) return { type: 'null' };
    // A text or number with a brand.
    if (type.isIntersection() && type.types.some((each) => !this.isObject(each)))
      return this.schemaOf(
        { type: type.types.find((each) => !this.isObject(each)) ?? type, node: undefined },
        at,
      );
    if (this.isObject(type) || type.isIntersection()) return this.schemaOfObject({ type, node }, at);
    throw this.unsayable(type, at);
  }

  private schemaOfUnion(
    type: TypeScript.UnionType,
    node: TypeScript.TypeNode | undefined,
    at: string,
  ): Schema {
    const { ts } = this;
    const types = type.types.filter(({ flags }) => (flags & ts.TypeFlags.Undefined) === 0);
    const isAll = (flag: TypeScript.TypeFlags): boolean => types.every(({ flags }) => (flags & flag) !== 0);
    const [only] = types;
    if (only && types.length === 1) return this.schemaOf({ type: only, node }, at);
    if (isAll(ts.TypeFlags.BooleanLiteral)) return { type: 'boolean' };
    if (isAll(ts.TypeFlags.NumberLike | ts.TypeFlags.BigIntLike) && !types.some((each) => each.isLiteral()))
      return { type: 'integer' };
    const isText = ({ flags }: TypeScript.Type): boolean => flags === ts.TypeFlags.String;
    const isNumber = ({ flags }: TypeScript.Type): boolean => flags === ts.TypeFlags.Number;
    if (types.length === 2 && types.some(isText) && types.some(isNumber))
      return { 'x-kubernetes-int-or-string': true };
    const others = types.filter(({ flags }) => (flags & ts.TypeFlags.Null) === 0);
    const isBoolean = others.every(({ flags }) => (flags & ts.TypeFlags.BooleanLiteral) !== 0);
    const alternatives = isBoolean
      ? [{ type: 'boolean' }]
      : others.map((each) => this.schemaOf({ type: each, node: undefined }, at));
    return { anyOf: others.length < types.length ? [...alternatives, { type: 'null' }] : alternatives };
  }

  private schemaOfObject({ node, type }: Typed, at: string): Schema {
    const { checker, ts } = this;
    // An array of an interface that refers to itself is met through the interface.
    if (checker.isTupleType(type)) return { type: 'array', prefixItems: true };
    if (checker.isArrayType(type)) {
      const [item] = checker.getTypeArguments(type as TypeScript.TypeReference);
      if (!item) throw this.unsayable(type, at);
      return { type: 'array', items: this.schemaOf({ type: item, node: itemNode(ts, node) }, `${at}[]`) };
    }
    if (type.getSymbol()?.name === 'Date' && this.isOfLibrary(type.symbol))
      return { type: 'string', format: 'date-time' };
    if (type.getCallSignatures().length > 0 || this.isLibraryClass(type)) throw this.unsayable(type, at);
    if (this.open.has(type)) return { $ref: checker.typeToString(type) };
    this.open.add(type);
    try {
      const { properties, required } = this.fieldsOf(type, at);
      const values = type.getStringIndexType();
      return {
        type: 'object',
        ...(Object.keys(properties).length > 0 && { properties }),
        ...(required.length > 0 && { required }),
        ...(values && {
          additionalProperties: this.schemaOf({ type: values, node: valueNode(ts, node) }, `${at}.*`),
        }),
      };
    } finally {
      this.open.delete(type);
    }
  }

  private isObject(type: TypeScript.Type): boolean {
    return (type.flags & this.ts.TypeFlags.Object) !== 0;
  }

  /** `Map`, `RegExp`: objects that JSON has not. */
  private isLibraryClass(type: TypeScript.Type): boolean {
    const symbol = type.getSymbol();
    return (
      symbol !== undefined && (symbol.flags & this.ts.SymbolFlags.Value) !== 0 && this.isOfLibrary(symbol)
    );
  }

  private isOfLibrary(symbol: TypeScript.Symbol | undefined): boolean {
    const files = symbol?.declarations?.map((each) => each.getSourceFile()) ?? [];
    return files.some((file) => this.program.isSourceFileDefaultLibrary(file));
  }

  private unsayable(type: TypeScript.Type, at: string): InvalidOptionError {
    return new InvalidOptionError(at, `a definition cannot say ${this.checker.typeToString(type)}`);
  }
}

/** How the items of an array are written: `Port` in `Port[]`, `readonly Port[]` and `Array<Port>`. */
function itemNode(ts: Compiler, node: TypeScript.TypeNode | undefined): TypeScript.TypeNode | undefined {
  if (!node) return undefined;
  if (ts.isTypeOperatorNode(node)) return itemNode(ts, node.type);
  if (ts.isArrayTypeNode(node)) return node.elementType;
  return ts.isTypeReferenceNode(node) && node.typeArguments?.length === 1 ? node.typeArguments[0] : undefined;
}

/** How the values of a map are written: `Port` in `Record<string, Port>`. */
function valueNode(ts: Compiler, node: TypeScript.TypeNode | undefined): TypeScript.TypeNode | undefined {
  return node && ts.isTypeReferenceNode(node) && node.typeArguments?.length === 2
    ? node.typeArguments[1]
    : undefined;
}
