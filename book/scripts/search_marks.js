// Marks the words of a search in the section that was found; search.js loads it on a page that a result leads to.
import { mark } from "./search/marks.js";

bookSearch.mark = mark;
