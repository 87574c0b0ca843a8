const OPERATORS = {
  '<': (value: number, bound: number) => value < bound,
  '<=': (value: number, bound: number) => value <= bound,
  '>': (value: number, bound: number) => value > bound,
  '>=': (value: number, bound: number) => value >= bound,
  '==': (value: number, bound: number) => value === bound,
  '!=': (value: number, bound: number) => value !== bound,
} as const;
type Operator = keyof typeof OPERATORS;

/** The condition that a value must meet: `< 0.01`, `>= 99.5`. */
export interface Condition {
  readonly operator: Operator;
  readonly bound: number;
}

const CONDITION = /^(<=|>=|==|!=|<|>)\s*([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)$/;

export function parseCondition(text: string): Condition | undefined {
  const [, operator, bound] = CONDITION.exec(text.trim()) ?? [];
  return operator !== undefined && isOperator(operator) ? { operator, bound: Number(bound) } : undefined;
}

function isOperator(text: string): text is Operator {
  return Object.hasOwn(OPERATORS, text);
}

export function meets(value: number, { bound, operator }: Condition): boolean {
  return OPERATORS[operator](value, bound);
}

export function renderCondition({ bound, operator }: Condition): string {
  return `${operator} ${bound}`;
}
