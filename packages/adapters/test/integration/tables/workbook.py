"""Writes a workbook as openpyxl writes one, with a cell as long as Excel takes or without, and says what it reads in one: `workbook.py write-long FILE`, `workbook.py write FILE`, `workbook.py read FILE`."""

import json
import sys
import warnings
from datetime import date, datetime

from openpyxl import Workbook, load_workbook
from openpyxl.comments import Comment
from openpyxl.formatting.rule import CellIsRule
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.table import Table

LAST_ROW = 1_048_576
MOST_OF_CELL = 32_767


def write(path, text="ada@example.org"):
    book = Workbook()
    staff = book.active
    staff.title = "staff"
    staff.append(["name", "ssn", "note", "amount", "when", "double", "who"])
    staff.append(["Zofia Brandl", 536228726, "write to ada@example.org", 12.5, date(2024, 2, 29), "=D2*2", '=A2&" <"&C2&">"'])
    staff.append(["Tadhg Byrne", 219099999, "call back", 7, datetime(2024, 3, 1, 12, 30), "=D3*2", "=C3"])
    staff.append(["Anouk Visser", 457555462, None, 0, None, "=SUM(D2:D3)", "='grace@example.org'!A2"])
    for cell in staff[1]:
        cell.font = Font(bold=True, color="FF0000")
        cell.fill = PatternFill("solid", fgColor="FFFF00")
    staff["C2"].alignment = Alignment(wrap_text=True)
    staff["B2"].number_format = "000-00-0000"
    staff["D2"].number_format = "0.00"
    staff["A2"].comment = Comment("ask ada@example.org first", "ada@example.org")
    staff["A3"].hyperlink = "mailto:ada@example.org"
    staff.freeze_panes = "A2"
    staff.column_dimensions["A"].width = 33
    staff.row_dimensions[2].height = 40
    staff.merge_cells("A6:C6")
    staff["A6"] = "seen by ada@example.org"
    staff.oddHeader.center.text = "for ada@example.org " + "and so on " * 22
    rule = DataValidation(type="list", formula1='"red,green"', prompt="ask ada@example.org", promptTitle="of ada@example.org")
    rule.add("D2:D4")
    staff.add_data_validation(rule)
    staff.conditional_formatting.add("D2:D4", CellIsRule(operator="greaterThan", formula=["5"], font=Font(bold=True)))

    table = book.create_sheet("grace@example.org")
    table.append(["mail of ada@example.org", "mail of the other", "kind"])
    table.append(["x", "y", "rye"])
    table.append(["z", "w", "oats"])
    table.add_table(Table(displayName="t_457555462", ref="A1:C3"))

    long = book.create_sheet("a name of thirty-one characters")
    long["A1"] = text
    long.cell(LAST_ROW, 1, "the last is ada@example.org")
    long.cell(LAST_ROW, 2, 42)
    hidden = book.create_sheet("of kim@example.org")
    hidden.sheet_state = "hidden"
    hidden["A1"] = "=1+1"

    book.defined_names["of_536228726"] = DefinedName("of_536228726", attr_text="staff!$A$2")
    book.defined_names["rates"] = DefinedName("rates", attr_text="staff!$D$2:$D$4")
    staff["F6"] = "=COUNTA(of_536228726)+SUM(rates)"
    book.properties.creator = "ada@example.org"
    book.save(path)


def write_long(path):
    write(path, "ada@e.org " * (MOST_OF_CELL // 10))


def told(cell):
    value = cell.value
    return {
        "value": value.isoformat() if isinstance(value, (date, datetime)) else value,
        "type": cell.data_type,
        "format": cell.number_format,
        "bold": cell.font.b,
        "fill": cell.fill.fgColor.rgb if cell.fill.fill_type else None,
        "wrap": cell.alignment.wrap_text,
        "comment": cell.comment.text if cell.comment else None,
        "link": cell.hyperlink.target if cell.hyperlink else None,
    }


def read(path):
    warnings.simplefilter("error")
    book = load_workbook(path)
    sheets = []
    for sheet in book.worksheets:
        sheets.append(
            {
                "title": sheet.title,
                "state": sheet.sheet_state,
                "dimensions": sheet.dimensions,
                "frozen": sheet.freeze_panes,
                "merged": [str(merged) for merged in sheet.merged_cells.ranges],
                "widths": {name: held.width for name, held in sheet.column_dimensions.items()},
                "header": sheet.oddHeader.center.text,
                "validations": [[str(rule.sqref), rule.formula1, rule.promptTitle, rule.prompt] for rule in sheet.data_validations.dataValidation],
                "conditions": [str(held.sqref) for held in sheet.conditional_formatting],
                "tables": [
                    [held.displayName, held.ref, [column.name for column in held.tableColumns]] for held in sheet.tables.values()
                ],
                "cells": {cell.coordinate: told(cell) for cell in sheet._cells.values() if cell.value is not None},
            }
        )
    names = {name: held.attr_text for name, held in book.defined_names.items()}
    json.dump({"sheets": sheets, "names": names, "creator": book.properties.creator}, sys.stdout)


{"write": write, "write-long": write_long, "read": read}[sys.argv[1]](sys.argv[2])
