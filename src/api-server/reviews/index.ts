export type { Reviewer } from './decide-review.js';
export { handleReview } from './handle-review.js';
export { findReviewType, REVIEW_TYPES } from './review-types.js';
export type { ReviewType } from './review-types.js';
