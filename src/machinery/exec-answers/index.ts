export { EXEC_ANNOTATION, answerTo, readExecAnswers } from './exec-answers.js';
export type { ExecAnswer, ExecAnswers } from './exec-answers.js';
