import { oneOf } from '@rollkeeper/machinery/options/option-table';

/** The option of every command that starts an API server. */
export const INVALID_POLICIES_OPTION = {
  'invalid-policies': oneOf(['warn', 'refuse'], {
    help: 'warn or refuse: how to treat writes of rollkeeper.dev annotations that are unknown or invalid',
    value: 'what',
    default: 'warn',
  }),
};
