"""Arrays that programs write with --out DIR: .npy files of whole numbers and floats."""
import ast
import math
import pathlib
import struct

FORMATS = {"<i4": "i", "<i8": "q", "<f4": "f"}


def read(path):
    """The shape and the elements, in order, of an array of i32, i64 or f32. ValueError, with one line that names the file."""
    try:
        content = pathlib.Path(path).read_bytes()
        start = 10 + struct.unpack("<H", content[8:10])[0]
        header = ast.literal_eval(content[10:start].decode("latin-1"))
        count = math.prod(header["shape"])
        return header["shape"], struct.unpack(f"<{count}{FORMATS[header['descr']]}", content[start:])
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from error
    except (KeyError, SyntaxError, TypeError, ValueError, struct.error) as error:
        raise ValueError(f"{path}: it is no array of i32, i64 or f32") from error
