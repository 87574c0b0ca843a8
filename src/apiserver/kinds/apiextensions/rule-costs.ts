import type { CelProgram, DeclaredSizes } from '../../cel/index.js';
import type { StructuralSchema } from '../../schema/index.js';
import type { CompiledRule } from '../custom/rules/compile-rule.js';
import type { SchemaSizes } from '../custom/rules/schema-sizes.js';
import { MAX_REQUEST_BYTES } from '../custom/rules/schema-sizes.js';
import type { FieldError } from '../kind-definition.js';
import { forbidden } from '../validation/field-errors.js';

/** Source: StaticEstimatedCostLimit and StaticEstimatedCRDCostLimit in apiextensions-apiserver/pkg/apis/apiextensions/validation. */
const LIMIT = 10_000_000;
const TOTAL_LIMIT = 100_000_000;
const NAMED_BESIDE_TOTAL = 4;

interface RuleCost {
  readonly field: string;
  readonly cost: number;
}

/** The values that a rule judges. */
interface Judged {
  readonly schema: StructuralSchema;
  readonly isResource: boolean;
  readonly repetitions: number;
}

/**
 * The costs of the rules of one schema at worst, in the largest objects that it allows. Source: cel_validation.go and
 * getExpressionCost in apiextensions-apiserver/pkg/apis/apiextensions/validation.
 */
export class RuleCosts {
  private total = 0;
  private readonly expensive: RuleCost[] = [];

  constructor(private readonly sizes: SchemaSizes) {}

  judge(
    { program, message }: CompiledRule,
    path: string,
    { schema, isResource, repetitions }: Judged,
    errors: FieldError[],
  ): void {
    const sizes = this.sizes.of(schema, isResource);
    if (!sizes) return;
    // Nothing around the values bounds their number: then a request does.
    const times = Number.isFinite(repetitions)
      ? repetitions
      : Math.floor(MAX_REQUEST_BYTES / (sizes.minJson + 1));
    this.add('estimated rule cost', `${path}.rule`, { program, sizes, times }, errors);
    // A message is made for the first values that break the rule, not for all.
    if (message)
      this.add(
        'estimated messageExpression cost',
        `${path}.messageExpression`,
        { program: message, sizes, times: 1 },
        errors,
      );
  }

  judgeTotal(path: string, errors: FieldError[]): void {
    if (this.total <= TOTAL_LIMIT) return;
    this.expensive.sort((left, right) => right.cost - left.cost);
    for (const { field } of this.expensive.slice(0, NAMED_BESIDE_TOTAL))
      errors.push(
        forbidden(
          field,
          'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
        ),
      );
    const what = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema';
    errors.push(forbidden(path, excess(what, this.total, TOTAL_LIMIT)));
  }

  private add(
    what: string,
    field: string,
    { program, sizes, times }: { program: CelProgram; sizes: DeclaredSizes; times: number },
    errors: FieldError[],
  ): void {
    const cost = times === 0 ? 0 : program.estimateCost(sizes) * times;
    if (cost > LIMIT) errors.push(forbidden(field, excess(what, cost, LIMIT)));
    this.total += cost;
    if (cost >= TOTAL_LIMIT / 100) this.expensive.push({ field, cost });
  }
}

/**
 * The maximum number of values below a schema that itself may occur this often; Infinity if unbounded. Source:
 * extractMaxElements and childContext.
 */
export function repetitionsBelow(
  { type, additionalProperties, maxProperties, maxItems }: StructuralSchema,
  repetitions: number,
): number {
  const isMap = type === 'object' && additionalProperties !== undefined;
  if (!isMap && type !== 'array') return repetitions;
  const bound = isMap ? maxProperties : maxItems;
  return bound === undefined || !Number.isFinite(repetitions)
    ? Number.POSITIVE_INFINITY
    : repetitions * Math.max(0, bound);
}

function excess(what: string, cost: number, limit: number): string {
  const factor = cost / limit;
  // Close to the limit, one digit would say that it was kept.
  const shown = factor > 100 ? 'more than 100' : factor < 1.5 ? factor.toFixed(6) : factor.toFixed(1);
  return `${what} exceeds budget by factor of ${shown}x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}
