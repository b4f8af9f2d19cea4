// Counts the tokens (o200k_base) of each JSON value of a list given as the only argument.
import { encode } from "gpt-tokenizer/encoding/o200k_base";
console.log(JSON.stringify(JSON.parse(process.argv[1]).map((value) => encode(JSON.stringify(value)).length)));
