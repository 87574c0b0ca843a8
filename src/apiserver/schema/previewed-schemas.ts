import type { Descriptions, GoFacts, ObjectSchema } from './object-schema.js';

/** The schemas of a preview: none of them is served unless its feature gate is on. */
export interface PreviewedSchemas {
  /** By full name: types that the server has in addition. */
  readonly types: Readonly<Record<string, ObjectSchema>>;
  /** By full name of an existing type: the properties that it has in addition. */
  readonly properties: Readonly<Record<string, Readonly<Record<string, ObjectSchema>>>>;
  /** By full name: the words of `kubectl explain`, for either. */
  readonly descriptions: Readonly<Record<string, Descriptions>>;
  /** By full name: of the additional types. */
  readonly goFacts: Readonly<Record<string, GoFacts>>;
}

/** Lays previews over the schemas of a registry. */
export class PreviewLayer {
  private readonly types = new Map<string, ObjectSchema>();
  /** Objects of one type are many: its schema is put together once. */
  private readonly widened = new Map<string, ObjectSchema>();

  constructor(private readonly previews: readonly PreviewedSchemas[]) {
    for (const { types } of previews)
      for (const [name, schema] of Object.entries(types)) this.types.set(name, schema);
  }

  get names(): readonly string[] {
    return [...this.types.keys()];
  }

  /** The schema of that name, given what the registry has. */
  get(name: string, existing: ObjectSchema | undefined): ObjectSchema | undefined {
    if (!existing) return this.types.get(name);
    const known = this.widened.get(name);
    if (known) return known;
    const added = this.previews
      .map(({ properties }) => properties[name])
      .filter((each) => each !== undefined);
    if (added.length === 0) return existing;
    const properties = Object.assign({}, existing.properties, ...added) as ObjectSchema['properties'];
    const schema = { ...existing, properties };
    this.widened.set(name, schema);
    return schema;
  }

  goFacts(name: string): GoFacts | undefined {
    return this.previews.map(({ goFacts }) => goFacts[name]).find((facts) => facts !== undefined);
  }

  /** The words about a type, given what the registry has. */
  describe(name: string, existing: Descriptions): Descriptions {
    const added = this.previews.map(({ descriptions }) => descriptions[name] ?? {});
    return added.length === 0 ? existing : (Object.assign({}, existing, ...added) as Descriptions);
  }
}
